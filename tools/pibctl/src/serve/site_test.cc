// SPDX-License-Identifier: GPL-2.0
#include "serve/site.h"

#include <gtest/gtest.h>
#include <poll.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <nlohmann/json.hpp>
#include <semaphore>
#include <thread>

#include "serve/documents.h"
#include "serve/page.h"
#include "watch/fake_looks.h"

namespace pib::ctl {
namespace {

using namespace std::chrono_literals;
using Json = nlohmann::json;

TEST(Http, HostsThatMeanThisMachine)
{
	for (const char *host : {"localhost", "LocalHost:8514", "127.0.0.1", "127.0.0.1:80",
				 "192.0.2.7:8514", "[::1]", "[::1]:8514", "[fe80::1]:1"})
		EXPECT_TRUE(host_is_allowed(host)) << host;
	for (const char *host :
	     {"", ":8514", "evil.example", "evil.example:8514", "localhost.evil.example",
	      "127.0.0.1.evil.example", "localhost:8514:1", "localhost:", "localhost:x", "::1",
	      "[::1", "[::1]x", "[localhost]", "127.0.0.1 ", "localhost@evil.example",
	      "127.0.0.1:1234567"})
		EXPECT_FALSE(host_is_allowed(host)) << host;
}

TEST(Http, WhatIsRefused)
{
	const HttpRequest good{"GET", "/", "localhost", ""};
	EXPECT_FALSE(check_request(good));
	HttpRequest request = good;
	request.method = "HEAD";
	EXPECT_FALSE(check_request(request));
	request.method = "POST";
	EXPECT_EQ(check_request(request)->status, 405U);
	request = good;
	request.host.reset();
	EXPECT_EQ(check_request(request)->status, 400U);
	request.host = "evil.example";
	EXPECT_EQ(check_request(request)->status, 403U);
}

TEST(Http, PagesOfOtherSitesAskNothing)
{
	HttpRequest request{"GET", "/api/tables", "localhost", "sw0"};
	for (const char *from : {"same-origin", "none"}) {
		request.from = from;
		EXPECT_FALSE(check_request(request)) << from;
	}
	for (const char *from : {"cross-site", "same-site", "", "another"}) {
		request.from = from;
		EXPECT_EQ(check_request(request)->status, 403U) << from;
	}
	// A link to the page works.
	request.path = "/";
	EXPECT_FALSE(check_request(request));
}

/// A site over a fabric, with a clock that is moved by hand.
class Sites : public testing::Test {
protected:
	std::optional<HttpResponse> try_get(const std::string &path, const std::string &name = "")
	{
		return site.answer({"GET", path, "localhost", name});
	}
	/// Waits for what is not known at once.
	HttpResponse get(const std::string &path, const std::string &name = "")
	{
		auto response = try_get(path, name);
		for (int i = 0; !response; ++i) {
			pollfd events{bell.file(), POLLIN, 0};
			if (i == 10 || poll(&events, 1, 60000) != 1)
				return refuse(500, "no answer comes");
			bell.has_rung();
			response = try_get(path, name);
		}
		return *response;
	}
	Json json(const std::string &path, const std::string &name = "")
	{
		const HttpResponse response = get(path, name);
		EXPECT_EQ(response.status, 200U) << *response.body;
		EXPECT_EQ(response.type, "application/json");
		return Json::parse(*response.body);
	}
	Json cable(const std::string &a)
	{
		const Json all = json("/api/fabric");
		for (const Json &each : all.at("cables"))
			if (each.at("a") == a)
				return each;
		return {};
	}

	fake::Fabric fabric;
	std::optional<Error> failure;
	/// Of a thread of the site, too.
	std::atomic<std::chrono::milliseconds> time{1h};
	/// Time that a switch takes, by that clock. If waits is set, it also waits until told.
	std::chrono::milliseconds cost{0};
	std::binary_semaphore told{0};
	std::atomic<bool> waits = false;
	std::atomic<int> tables_asked = 0;
	const Bell bell;
	Site site{[this]() -> Result<Look> {
			  if (failure)
				  return *failure;
			  return fabric.look(0);
		  },
		  [this](const TablesQuestion &question,
			 const std::stop_token &stop) -> Result<Tables> {
			  ++tables_asked;
			  while (waits && !told.try_acquire_for(10ms) && !stop.stop_requested())
				  continue;
			  time = time.load() + cost;
			  if (question.node != "sw0")
				  return Error{"the switch does not answer", ETIMEDOUT};
			  return Tables{{{1, 3, 5}}, {{0xC001, {2, 17}}}};
		  },
		  bell, [this] { return Sampler::Clock::time_point(time.load()); }};
};

TEST_F(Sites, OnlyWhatThereIs)
{
	for (const char *path :
	     {"/index.html", "//", "/../etc/passwd", "/api", "/api/", "", "/fabric.svg/"})
		EXPECT_EQ(get(path).status, 404U) << path;
}

TEST_F(Sites, EveryRequestIsChecked)
{
	EXPECT_EQ(site.answer({"GET", "/api/fabric", "evil.example", ""})->status, 403U);
	EXPECT_EQ(site.answer({"PUT", "/", "localhost", ""})->status, 405U);
}

TEST_F(Sites, TheFabric)
{
	const Json all = json("/api/fabric");
	EXPECT_EQ(all.at("nodes").size(), 4U);
	EXPECT_EQ(all.at("cables").size(), 3U);
	EXPECT_EQ(all.at("hosts").size(), 1U);
	EXPECT_EQ(cable("sw0/3").at("class"), "active load0");
	EXPECT_EQ(cable("sw0/3").at("b"), "sw1/3");
}

TEST_F(Sites, ANode)
{
	const Json node = json("/api/node", "sw1");
	EXPECT_EQ(node.at("kind"), "switch");
	ASSERT_EQ(node.at("ports").size(), 5U);
	EXPECT_EQ(node.at("ports").at(3).at("far"), "sw0/3");
	EXPECT_EQ(node.at("ports").at(3).at("rate"), "4X EDR (100 Gb/s)");
	EXPECT_EQ(node.at("ports").at(4).at("far").get<std::string>().substr(0, 9), "192.0.2.7");
	EXPECT_EQ(get("/api/node", "sw9").status, 404U);
	EXPECT_EQ(get("/api/node").status, 404U);
}

TEST_F(Sites, APort)
{
	fabric.count({"pib0", 1}, "port_xmit_bytes", 77);
	const Json port = json("/api/port", "pib0/1");
	EXPECT_EQ(port.at("lid"), 1);
	EXPECT_EQ(port.at("state"), "ACTIVE");
	EXPECT_EQ(port.at("far"), "sw0/1");
	EXPECT_EQ(port.at("counters").at(0).at("name"), "port_xmit_bytes");
	EXPECT_EQ(port.at("counters").at(0).at("value"), 77);
	for (const char *name : {"pib0/9", "pib0", "/", "", "nowhere/1"})
		EXPECT_EQ(get("/api/port", name).status, 404U) << name;
}

TEST_F(Sites, TheTablesOfASwitchAreAskedForOnce)
{
	const Json tables = json("/api/tables", "sw0");
	EXPECT_EQ(tables.at("routes").at(0), (Json{{"first", 1}, {"last", 3}, {"port", 5}}));
	EXPECT_EQ(tables.at("groups").at(0).at("lid"), "0xc001");
	EXPECT_EQ(json("/api/tables", "sw0"), tables);
	EXPECT_EQ(tables_asked, 1);
	EXPECT_EQ(get("/api/tables", "pib0").status, 404U);
}

TEST_F(Sites, ASwitchThatTakesLongIsAskedOnce)
{
	cost = 3000ms;
	for (int i = 0; i < 3; ++i)
		EXPECT_EQ(get("/api/tables", "sw1").status, 503U);
	EXPECT_EQ(tables_asked, 1);
	time = time.load() + 2001ms;
	EXPECT_EQ(get("/api/tables", "sw1").status, 503U);
	EXPECT_EQ(tables_asked, 2);
}

TEST_F(Sites, OthersAreAnsweredWhileASwitchIsAsked)
{
	waits = true;
	EXPECT_FALSE(try_get("/api/tables", "sw0"));
	EXPECT_EQ(get("/api/fabric").status, 200U);
	EXPECT_EQ(get("/api/tables", "sw9").status, 404U);
	// One question at a time.
	EXPECT_FALSE(try_get("/api/tables", "sw1"));
	EXPECT_FALSE(try_get("/api/tables", "sw0"));
	told.release();
	EXPECT_EQ(get("/api/tables", "sw0").status, 200U);
	EXPECT_EQ(tables_asked, 1);
	told.release();
	EXPECT_EQ(get("/api/tables", "sw1").status, 503U);
	EXPECT_EQ(tables_asked, 2);
}

TEST_F(Sites, DocumentsAreMadeOnceForEachLook)
{
	for (const char *path : {"/fabric.svg", "/api/fabric"}) {
		const SharedText body = get(path).body;
		EXPECT_EQ(get(path).body, body) << path;
		time = time.load() + 1s;
		fabric.port({"pib0", 1}).lid = static_cast<std::uint16_t>(40 + *path);
		fabric.count({"pib0", 1}, "port_xmit_bytes", 100);
		EXPECT_NE(get(path).body, body) << path;
	}
}

TEST(SiteEnd, WhatIsAskedIsGivenUp)
{
	const Bell bell;
	const fake::Fabric fabric;
	std::binary_semaphore begun{0};
	bool stopped = false;
	{
		Site site(
			[&]() -> Result<Look> { return fabric.look(0); },
			[&](const TablesQuestion &, const std::stop_token &stop) -> Result<Tables> {
				begun.release();
				while (!stop.stop_requested())
					std::this_thread::yield();
				stopped = true;
				return Error{"the question was given up", EINTR};
			},
			bell);
		EXPECT_FALSE(site.answer({"GET", "/api/tables", "localhost", "sw0"}));
		begun.acquire();
	}
	EXPECT_TRUE(stopped);
}

TEST_F(Sites, ThePictureIsThatOfFabricDraw)
{
	const HttpResponse picture = get("/fabric.svg");
	EXPECT_EQ(picture.type, "image/svg+xml");
	EXPECT_NE(picture.body->find("data-cable=\"sw0/3\""), std::string::npos);
	EXPECT_NE(picture.body->find("class=\"node switch\" data-node=\"sw0\""), std::string::npos);
	// The description of the HCAs.
	EXPECT_NE(picture.body->find("host of ?? &lt;b&gt;"), std::string::npos) << *picture.body;
	EXPECT_EQ(picture.body->find("<b>"), std::string::npos);
}

TEST_F(Sites, AFabricThatCannotBeSeen)
{
	failure = Error{"module pib is not loaded"};
	EXPECT_EQ(get("/api/fabric").status, 503U);
	EXPECT_EQ(*get("/api/fabric").body, "module pib is not loaded\n");
	EXPECT_EQ(get("/").status, 200U);
}

TEST(Page, OnlyItsOwnScriptCounts)
{
	const Page page = make_page();
	const auto at = page.policy.find("'nonce-");
	ASSERT_NE(at, std::string::npos);
	const std::string nonce = page.policy.substr(at + 7, 32);
	EXPECT_NE(page.text.find("<script nonce=\"" + nonce + "\">"), std::string::npos);
	EXPECT_NE(page.text.find("<style nonce=\"" + nonce + "\">"), std::string::npos);
	EXPECT_EQ(page.text.find("NONCE"), std::string::npos);
	EXPECT_NE(page.policy, make_page().policy);
}

TEST(Page, NothingComesFromElsewhereAndNothingBecomesMarkup)
{
	const std::string text = make_page().text;
	EXPECT_TRUE(text.starts_with("<!DOCTYPE html>"));
	EXPECT_TRUE(text.ends_with("</html>\n"));
	for (const char *word : {"https:", "innerHTML", "insertAdjacentHTML", "document.write",
				 "src=", "@import", "url(", "eval("})
		EXPECT_EQ(text.find(word), std::string::npos) << word;
}

CableRates cable(bool plugged, const char *state, double bytes, bool faulty, double lost)
{
	CableRates made;
	made.plugged = plugged;
	made.state = state;
	made.bytes_out = bytes;
	made.faulty = faulty;
	made.lost = lost;
	return made;
}

TEST(Documents, ClassesOfCables)
{
	EXPECT_EQ(cable_class(cable(true, "ACTIVE", 0, false, 0)), "active load0");
	EXPECT_EQ(cable_class(cable(true, "ACTIVE", 2e6, false, 0)), "active load3");
	EXPECT_EQ(cable_class(cable(true, "ACTIVE", 2e6, true, 4)), "active load3 faulty losing");
	EXPECT_EQ(cable_class(cable(true, "INIT", 0, false, 0)), "coming");
	EXPECT_EQ(cable_class(cable(true, "ARMED", 0, false, 0)), "coming");
	EXPECT_EQ(cable_class(cable(true, "DOWN", 0, false, 0)), "down");
	EXPECT_EQ(cable_class(cable(false, "ACTIVE", 0, true, 0)), "unplugged");
}

TEST(Documents, LevelsOfLoad)
{
	EXPECT_EQ(load_level(0), 0U);
	EXPECT_EQ(load_level(999), 0U);
	EXPECT_EQ(load_level(1000), 1U);
	EXPECT_EQ(load_level(99e6), 4U);
	EXPECT_EQ(load_level(1e12), 5U);
}

TEST(Documents, TheShapeIsThatOfTheDrawing)
{
	fake::Fabric fabric;
	const std::string shape = shape_of(draw(fabric.fabric));
	fabric.count({"sw0", 3}, "port_xmit_bytes", 700);
	fabric.link({"sw0", 3}).plugged = false;
	fabric.port({"sw0", 3}).state = 1;
	EXPECT_EQ(shape_of(draw(fabric.fabric)), shape);
	fabric.port({"pib0", 1}).lid = 9;
	EXPECT_NE(shape_of(draw(fabric.fabric)), shape);
}

/// A sampler whose looks take no time, or so much.
class Sampling : public testing::Test {
protected:
	void at(std::chrono::milliseconds when)
	{
		time = Sampler::Clock::time_point(when);
		EXPECT_TRUE(sampler.refresh());
	}
	double span() const { return seconds_between(sampler.before(), sampler.now()); }

	Sampler::Clock::time_point time;
	std::chrono::milliseconds cost{0};
	int taken = 0;
	bool fails = false;
	Sampler sampler{[this]() -> Result<Look> {
				++taken;
				time += cost;
				if (fails)
					return Error{"module pib is not loaded"};
				return Look{};
			},
			[this] { return time; }};
};

TEST_F(Sampling, TheFirstLookIsComparedWithItself)
{
	at(100ms);
	EXPECT_EQ(span(), 0);
	EXPECT_EQ(taken, 1);
}

TEST_F(Sampling, ManyWhoAskCauseOneLook)
{
	for (int i = 0; i < 100; ++i)
		at(100ms + i * 1ms);
	EXPECT_EQ(taken, 1);
	at(310ms);
	EXPECT_EQ(taken, 2);
}

TEST_F(Sampling, WhatIsComparedIsASecondOld)
{
	for (int i = 0; i < 20; ++i)
		at(i * 500ms);
	EXPECT_EQ(span(), 1);
	for (int i = 0; i < 20; ++i)
		at(10000ms + i * 250ms);
	EXPECT_EQ(span(), 1);
}

TEST_F(Sampling, NothingIsComparedWithLongAgo)
{
	at(0ms);
	at(60000ms);
	EXPECT_EQ(span(), 0);
	at(60500ms);
	EXPECT_EQ(span(), .5);
}

TEST_F(Sampling, LooksThatTakeLongAreFew)
{
	cost = 1000ms;
	at(0ms);
	at(1900ms);
	EXPECT_EQ(taken, 1);
	at(3100ms);
	EXPECT_EQ(taken, 2);
}

TEST_F(Sampling, LooksThatFailAreFewToo)
{
	at(0ms);
	fails = true;
	for (int i = 0; i < 100; ++i) {
		time = Sampler::Clock::time_point(300ms + i * 1ms);
		EXPECT_EQ(sampler.refresh().error().text, "module pib is not loaded");
	}
	EXPECT_EQ(taken, 2);
	fails = false;
	at(600ms);
	EXPECT_EQ(taken, 3);
}

} // namespace
} // namespace pib::ctl
