// SPDX-License-Identifier: GPL-2.0
// libpibmanners.so between this program and a fake libibverbs (fake_verbs.c), both under AddressSanitizer: what it
// reads of a program's lists, and which work requests it tells of.
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <optional>
#include <string>
#include <vector>

extern "C" {
#include "fake_verbs.h"
extern VISIBLE int (*fake_post_send)(struct qp *qp, struct send_wr *list, struct send_wr **bad);
extern VISIBLE void (*fake_destroys)(struct qp *qp);
}

namespace {

/// As posts.c has it.
constexpr std::size_t kPosters = 256;

/// The end at which what is told is read.
int heard_at = -1;

struct Told {
	/// Device, queue pair, and number of the first work request.
	std::string text;
	bool has_stack = false;
	bool operator==(const Told &) const = default;
};

void PrintTo(const Told &told, std::ostream *out)
{
	*out << told.text << (told.has_stack ? " with" : " without") << " stack";
}

/// Kind, process, thread, time, name, text, and the stack.
std::optional<Told> parse_post(const std::string &line)
{
	std::vector<std::string> words;
	std::size_t at = 0;
	for (std::size_t tab; (tab = line.find('\t', at)) != std::string::npos; at = tab + 1)
		words.push_back(line.substr(at, tab - at));
	words.push_back(line.substr(at));
	if (words[0] != "post" || words.size() < 6)
		return std::nullopt;
	return Told{words[5], words.size() > 6};
}

/// The posts that were told of since the last time.
std::vector<Told> heard()
{
	std::vector<Told> all;
	char line[4096];
	ssize_t length;
	while ((length = recv(heard_at, line, sizeof(line), MSG_DONTWAIT)) > 0)
		if (auto told = parse_post({line, static_cast<std::size_t>(length)}))
			all.push_back(*told);
	return all;
}

/// A list as a program has it: it is freed when it was posted.
send_wr *list_of(int count)
{
	send_wr *list = nullptr;
	while (count--) {
		auto *wr = static_cast<send_wr *>(calloc(1, sizeof(send_wr)));
		wr->next = list;
		wr->opcode = RDMA_WRITE;
		wr->flags = SIGNALED;
		list = wr;
	}
	return list;
}

void free_list(send_wr *list)
{
	while (list) {
		send_wr *next = list->next;
		free(list);
		list = next;
	}
}

/// The completion has come before the call returns, and another thread has freed the list.
int completes(qp *, send_wr *list, send_wr **)
{
	free_list(list);
	return 0;
}

int refuses_second(qp *, send_wr *list, send_wr **bad)
{
	*bad = list->next;
	return ENOMEM;
}

class Preload : public testing::Test {
public:
	void SetUp() override
	{
		context_ = ibv_open_device(this);
		fake_post_send = completes;
		heard();
	}
	void TearDown() override
	{
		for (qp &each : qps_)
			ibv_destroy_qp(&each);
		ibv_close_device(context_);
		fake_destroys = nullptr;
	}

	qp &make()
	{
		qps_.push_back({});
		qps_.back().objects[0] = context_;
		qps_.back().number = ++last_;
		return qps_.back();
	}
	int post(qp &to, int count) { return post_list(to, list_of(count)); }
	int post_list(qp &to, send_wr *list)
	{
		const auto post_send =
			reinterpret_cast<decltype(fake_post_send)>(context_->ops[FAKE_POST_SEND]);
		send_wr *bad = nullptr;
		return post_send(&to, list, &bad);
	}
	/// As post(), from another place in the program.
	[[gnu::noinline]] int post_elsewhere(qp &to, int count)
	{
		const int err = post(to, count);
		asm volatile("");
		return err;
	}

	context *context_ = nullptr;
	std::deque<qp> qps_;
	std::uint32_t last_ = 100;
};

std::string told_of(const qp &of, int first)
{
	return "fake0 " + std::to_string(of.number) + " " + std::to_string(first);
}

TEST_F(Preload, AListIsNotReadOnceItIsPosted)
{
	EXPECT_EQ(post(make(), 3), 0);
}

TEST_F(Preload, WorkRequestsAreNumberedFromPlaceToPlace)
{
	qp &own = make();
	post(own, 3);
	post_elsewhere(own, 2);
	post(own, 1);
	EXPECT_EQ(heard(), (std::vector<Told>{{told_of(own, 0), true},
					      {told_of(own, 3), true},
					      {told_of(own, 5), true}}));
}

TEST_F(Preload, ThoseThatAreRefusedHaveNoNumber)
{
	qp &own = make();
	fake_post_send = refuses_second;
	send_wr *list = list_of(3);
	EXPECT_EQ(post_list(own, list), ENOMEM);
	free_list(list);
	fake_post_send = completes;
	post_elsewhere(own, 1);
	EXPECT_EQ(heard(), (std::vector<Told>{{told_of(own, 0), true}, {told_of(own, 1), true}}));
}

TEST_F(Preload, AStackThatHadNoRoomIsToldByTheNextPost)
{
	qp &many = make(), &own = make();
	for (int i = 0; i < 2000; i++) {
		post(many, 1);
		post_elsewhere(many, 1);
	}
	std::vector<Told> told;
	for (int i = 0; i < 2; i++) {
		post(own, 1);
		told = heard();
	}
	EXPECT_EQ(told, (std::vector<Told>{{told_of(own, 1), true}}));
}

/// Another thread has made a queue pair of the same number, and posted to it, before the call returns.
TEST_F(Preload, TheNextOneOfANumberKeepsItsPosts)
{
	static Preload *self;
	static qp *next;
	self = this;
	qp &gone = make();
	post(gone, 2);
	next = &make();
	next->number = gone.number;
	fake_destroys = [](qp *) {
		fake_destroys = nullptr;
		self->post(*next, 1);
	};
	ibv_destroy_qp(&gone);
	qps_.pop_front();
	heard();
	post_elsewhere(*next, 1);
	EXPECT_EQ(heard(), (std::vector<Told>{{told_of(*next, 1), true}}));
}

/// The last one, since that is so of all that come later, too.
TEST_F(Preload, AQueuePairThatWasNotKnownAtFirstHasNoStacks)
{
	for (std::size_t i = 0; i < kPosters; i++)
		post(make(), 1);
	qp &late = make();
	post(late, 1);
	heard();
	ibv_destroy_qp(&qps_.front());
	qps_.pop_front();
	post(late, 1);
	EXPECT_EQ(heard(), (std::vector<Told>{{told_of(late, 0), false}}));
}

/// libpibmanners.so looks for its socket before main().
int begin_again(char **argv)
{
	int ends[2];
	if (socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends))
		return 1;
	setenv("PIB_MANNERS_FD", std::to_string(ends[0]).c_str(), 1);
	setenv("PIB_MANNERS_HEARD_AT", std::to_string(ends[1]).c_str(), 1);
	execv("/proc/self/exe", argv);
	return 1;
}

} // namespace

int main(int argc, char **argv)
{
	const char *at = getenv("PIB_MANNERS_HEARD_AT");
	if (!at)
		return begin_again(argv);
	heard_at = atoi(at);
	testing::InitGoogleTest(&argc, argv);
	return RUN_ALL_TESTS();
}
