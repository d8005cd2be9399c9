// SPDX-License-Identifier: GPL-2.0
/*
 * Shares of users (kernel/core/quota.c, the very file), by the limits that the module has: half of
 * what an HCA can have is more than a machine of the lab can make of most kinds of object.
 */
#include <atomic>
#include <cstdarg>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

extern "C" {
#include "quota/kernel.h"
#include "../../kernel/core/quota.h"
}

struct quota_caller quota_caller;

struct quota_table {
	std::mutex mutex;
	std::map<u32, void *> entries;
};

namespace {

std::string said;

} // namespace

extern "C" {

void xa_init_flags(struct xarray *xa, int)
{
	xa->table = new quota_table;
}

void xa_destroy(struct xarray *xa)
{
	EXPECT_TRUE(xa->table->entries.empty()) << "users are left";
	delete xa->table;
}

void quota_lock(struct xarray *xa)
{
	xa->table->mutex.lock();
}

void quota_unlock(struct xarray *xa)
{
	xa->table->mutex.unlock();
}

void *xa_load(struct xarray *xa, u32 id)
{
	auto found = xa->table->entries.find(id);
	return found == xa->table->entries.end() ? nullptr : found->second;
}

void *__xa_store(struct xarray *xa, u32 id, void *entry, int)
{
	if (quota_caller.no_room)
		return ERR_PTR(-ENOMEM);
	xa->table->entries[id] = entry;
	return nullptr;
}

void __xa_erase(struct xarray *xa, u32 id)
{
	xa->table->entries.erase(id);
}

void quota_say(const char *fmt, ...)
{
	char text[200];
	va_list args;
	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	said = text;
}

} // extern "C"

namespace {

/* Objects are counted one by one, when they are made. Pages and bytes are charged many at a time. */
constexpr pib_obj kObjects[] = {PIB_OBJ_PD,	PIB_OBJ_XRCD,  PIB_OBJ_MR,  PIB_OBJ_MW,
				PIB_OBJ_AH,	PIB_OBJ_CQ,    PIB_OBJ_SRQ, PIB_OBJ_QP,
				PIB_OBJ_ATTACH, PIB_OBJ_PAGER, PIB_OBJ_ODP};
constexpr pib_obj kUnits[] = {PIB_OBJ_ODP_PAGES, PIB_OBJ_DM, PIB_OBJ_HELD};
static_assert(std::size(kObjects) + std::size(kUnits) == PIB_OBJ_COUNT);

u32 share_of(pib_obj obj)
{
	return obj == PIB_OBJ_ATTACH ? PIB_MCAST_GROUPS / 2 : pib_quota_max(obj) / 2;
}

/* All users together may have so many. */
u32 users_share(pib_obj obj)
{
	return pib_quota_max(obj) - pib_quota_max(obj) / 16;
}

class Quota : public testing::Test {
protected:
	Quota()
	{
		quota_caller = {1000, false, false, false};
		said.clear();
		pib_quota_init(&q, nullptr);
	}
	~Quota() override
	{
		for (pib_obj obj : kObjects)
			EXPECT_EQ(atomic_read(&q.used[obj]), 0) << obj;
		for (pib_obj obj : kUnits)
			EXPECT_EQ(atomic_read(&q.used[obj]), 0) << obj;
		pib_quota_exit(&q);
	}
	/* A process of this user opens the device. */
	pib_user *open(u32 uid)
	{
		quota_caller.uid = uid;
		return pib_quota_user(&q);
	}
	void close(pib_user *user) { pib_quota_put(&q, user); }
	bool take(pib_user *user, pib_obj obj) { return !pib_quota_take(&q, user, obj); }
	/* Take as many as there are for him. */
	u32 take_all(pib_user *user, pib_obj obj)
	{
		u32 n = 0;
		while (take(user, obj))
			n++;
		return n;
	}
	void give(pib_user *user, pib_obj obj, u32 n)
	{
		while (n--)
			pib_quota_give(&q, user, obj);
	}
	size_t users() const { return q.users.table->entries.size(); }

	pib_quota q{};
};

} // namespace

TEST_F(Quota, OneUserHasHisShareOfEachKindAndOthersStillGetTheirs)
{
	for (pib_obj obj : kObjects) {
		pib_user *greedy = open(1000), *other = open(1001);
		u32 share = share_of(obj), n = take_all(greedy, obj);

		EXPECT_EQ(n, share) << obj;
		EXPECT_NE(said.find("user 1000 has " + std::to_string(share)), std::string::npos)
			<< said;
		EXPECT_TRUE(take(other, obj)) << obj;
		EXPECT_TRUE(take(nullptr, obj)) << obj;
		give(other, obj, 1);
		give(nullptr, obj, 1);

		give(greedy, obj, 1);
		EXPECT_TRUE(take(greedy, obj)) << obj;
		EXPECT_FALSE(take(greedy, obj)) << obj;
		give(greedy, obj, n);
		close(greedy);
		close(other);
		EXPECT_EQ(users(), 0u);
	}
}

TEST_F(Quota, PagesAndBytesAreCountedInUnits)
{
	for (pib_obj obj : kUnits) {
		pib_user *greedy = open(1000), *other = open(1001);
		u32 share = share_of(obj);

		EXPECT_EQ(pib_quota_charge(&q, greedy, obj, share + 1), -ENOMEM) << obj;
		EXPECT_EQ(pib_quota_charge(&q, greedy, obj, share - 1), 0) << obj;
		EXPECT_EQ(pib_quota_charge(&q, greedy, obj, 2), -ENOMEM) << obj;
		EXPECT_EQ(pib_quota_charge(&q, greedy, obj, 1), 0) << obj;
		EXPECT_EQ(pib_quota_charge(&q, other, obj, 1), 0) << obj;
		EXPECT_EQ(pib_quota_charge(&q, greedy, obj, ~0u), -ENOMEM) << obj;
		pib_quota_uncharge(&q, greedy, obj, share);
		EXPECT_EQ(pib_quota_charge(&q, greedy, obj, share), 0) << obj;
		pib_quota_uncharge(&q, greedy, obj, share);
		pib_quota_uncharge(&q, other, obj, 1);
		close(greedy);
		close(other);
	}
}

TEST_F(Quota, AllUsersTogetherLeaveASixteenthToTheKernel)
{
	for (pib_obj obj : kObjects) {
		std::vector<std::pair<pib_user *, u32>> all;
		u32 sum = 0;
		while (sum < users_share(obj)) {
			pib_user *user = open(1000 + u32(all.size()));
			all.emplace_back(user, take_all(user, obj));
			sum += all.back().second;
			ASSERT_GT(all.back().second, 0u);
		}
		EXPECT_EQ(sum, users_share(obj)) << obj;

		pib_user *late = open(999);
		EXPECT_FALSE(take(late, obj)) << obj;
		EXPECT_NE(said.find("are used"), std::string::npos) << said;
		EXPECT_EQ(atomic_read(&late->used[obj]), 0) << "a refusal is counted: " << obj;
		close(late);

		u32 kernels = take_all(nullptr, obj);
		EXPECT_EQ(kernels, pib_quota_max(obj) / 16) << obj;
		give(nullptr, obj, kernels);
		for (auto [user, n] : all) {
			give(user, obj, n);
			close(user);
		}
		EXPECT_EQ(users(), 0u);
	}
}

/* Objects may outlive their owner's last process. With them goes the last that is known of him. */
TEST_F(Quota, ObjectsThatSurviveTheProcessCountUntilTheyAreGone)
{
	pib_user *first = open(1000);
	ASSERT_EQ(take_all(first, PIB_OBJ_SRQ), share_of(PIB_OBJ_SRQ));
	close(first);
	EXPECT_EQ(users(), 1u);

	pib_user *again = open(1000);
	EXPECT_EQ(again, first);
	EXPECT_FALSE(take(again, PIB_OBJ_SRQ));
	give(first, PIB_OBJ_SRQ, share_of(PIB_OBJ_SRQ));
	EXPECT_TRUE(take(again, PIB_OBJ_SRQ));
	close(again);
	give(again, PIB_OBJ_SRQ, 1);
	EXPECT_EQ(users(), 0u);
}

TEST_F(Quota, ProcessesOfOneUserShare)
{
	pib_user *a = open(1000), *b = open(1000);
	EXPECT_EQ(a, b);
	EXPECT_EQ(take_all(a, PIB_OBJ_PAGER), share_of(PIB_OBJ_PAGER));
	EXPECT_FALSE(take(b, PIB_OBJ_PAGER));
	EXPECT_TRUE(take(b, PIB_OBJ_XRCD));
	give(b, PIB_OBJ_PAGER, share_of(PIB_OBJ_PAGER));
	give(a, PIB_OBJ_XRCD, 1);
	close(a);
	close(b);
}

TEST_F(Quota, WhoMayHasNoShare)
{
	quota_caller.privileged = true;
	EXPECT_EQ(open(1000), nullptr);
	EXPECT_EQ(take_all(nullptr, PIB_OBJ_CQ), pib_quota_max(PIB_OBJ_CQ));
	give(nullptr, PIB_OBJ_CQ, pib_quota_max(PIB_OBJ_CQ));
}

TEST_F(Quota, TheOwnerIsWhoseCommandItIs)
{
	pib_ucontext context{open(1000)};
	ib_udata udata{&context};
	EXPECT_EQ(pib_quota_owner(&udata), context.user);
	EXPECT_EQ(pib_quota_owner(nullptr), nullptr);
	close(context.user);
}

TEST_F(Quota, WithoutMemoryNobodyIsEntered)
{
	quota_caller.no_memory = true;
	EXPECT_EQ(PTR_ERR(open(1000)), -ENOMEM);
	quota_caller.no_memory = false;
	quota_caller.no_room = true;
	EXPECT_EQ(PTR_ERR(open(1000)), -ENOMEM);
	EXPECT_EQ(users(), 0u);
}

/* Threads that ask at once have one share between them, and go at once, too. */
TEST_F(Quota, ThreadsOfOneUser)
{
	std::atomic<u32> sum = 0;
	std::vector<std::thread> threads;
	pib_user *user = open(1000);
	for (int i = 0; i < 4; i++)
		threads.emplace_back([&] { sum += take_all(user, PIB_OBJ_SRQ); });
	for (auto &t : threads)
		t.join();
	EXPECT_EQ(sum, share_of(PIB_OBJ_SRQ));
	threads.clear();
	close(user);
	for (int i = 0; i < 4; i++)
		threads.emplace_back([&] { give(user, PIB_OBJ_SRQ, share_of(PIB_OBJ_SRQ) / 4); });
	for (auto &t : threads)
		t.join();
	EXPECT_EQ(users(), 0u);
}
