// SPDX-License-Identifier: GPL-2.0
// The small parts: sums, segments, echo datagrams, state, control, logs, sockets.
#include <gtest/gtest.h>
#include <poll.h>

#include <cstdio>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string_view>

#include "control/control.h"
#include "core/fake_net.h"
#include "wire/frames.h"
#include "wire/ping.h"
#include "util/sha256.h"
#include "daemon/state.h"
#include "udp/udp.h"

namespace pibnetd {
namespace {

using Bytes = std::vector<std::uint8_t>;
using Json = nlohmann::json;

Bytes bytes_of(std::string_view text) { return {text.begin(), text.end()}; }

std::string hex(const Digest& digest) {
  std::string text;
  char two[3];
  for (const auto byte : digest) {
    std::snprintf(two, sizeof(two), "%02x", byte);
    text += two;
  }
  return text;
}

TEST(Sha256, VectorsOfFips180) {
  const auto hash = [](const Bytes& data) { return hex(sha256(data)); };
  EXPECT_EQ(hash({}), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(hash(bytes_of("abc")),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(hash(bytes_of("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq")),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(hash(Bytes(1000000, 'a')),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(Sha256, HmacVectorsOfRfc4231) {
  EXPECT_EQ(hex(hmac_sha256(Bytes(20, 0x0b), bytes_of("Hi There"))),
            "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7");
  EXPECT_EQ(hex(hmac_sha256(Bytes(131, 0xaa),
                            bytes_of("Test Using Larger Than Block-Size Key - Hash Key First"))),
            "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54");
}

/// One segment of a frame of this many, each of 1023 bytes.
std::optional<Frame> add(Frames& frames, std::uint16_t number, unsigned index, unsigned total,
                         std::size_t length, std::uint64_t now) {
  const pib_segment s{.flags = 0, .tag = 1, .link_id = 2, .frame = number,
                  .index = static_cast<std::uint8_t>(index),
                  .total = static_cast<std::uint8_t>(total), .size = 1023, .first = 0};
  return frames.add(s, Bytes(length, static_cast<std::uint8_t>(index)), now);
}

TEST(Frames, AreWholeInWhateverOrderTheyCome) {
  const std::vector<std::vector<unsigned>> orders = {{0, 1, 2, 3}, {3, 2, 1, 0}, {2, 0, 3, 1},
                                                     {1, 3, 0, 2}, {0, 3, 1, 2}};
  for (const auto& order : orders) {
    Frames frames;
    std::optional<Frame> done;
    for (const unsigned i : order) {
      EXPECT_FALSE(done);
      done = add(frames, 1, i, 4, i == 3 ? 10 : 1023, 5);
    }
    ASSERT_TRUE(done && done->whole());
    ASSERT_EQ(done->runs.size(), 1u);
    const Bytes& bytes = done->runs[0].bytes;
    ASSERT_EQ(bytes.size(), 3 * 1023u + 10);
    for (std::size_t at = 0; at < bytes.size(); at++) ASSERT_EQ(bytes[at], at / 1023);
    EXPECT_EQ(frames.held(), 0u);
  }
}

TEST(Frames, CostWhatHasComeOfThem) {
  Frames frames;
  std::vector<Frame> out;
  for (std::uint16_t n = 0; n < 1000; n++)
    if (auto done = add(frames, n, 63, 64, 1, n)) out.push_back(std::move(*done));
  EXPECT_EQ(out.size(), 992u);
  EXPECT_EQ(frames.held(), 8u);
  std::size_t capacity = 0;
  for (const Frame& frame : out)
    for (const auto& run : frame.runs) capacity += run.bytes.capacity();
  EXPECT_LE(capacity, 4 * out.size());
}

TEST(Frames, OfALinkAreLimited) {
  Frames frames;
  std::size_t out = 0;
  for (std::uint16_t n = 0; n < Frames::kPlaces + 4; n++)
    for (unsigned i = 0; i < 63; i++) {
      if (const auto done = add(frames, n, i, 64, 1023, 7)) {
        EXPECT_EQ(done->number, out++);
        EXPECT_FALSE(done->whole());
      }
      EXPECT_LE(frames.held(), Frames::kOfLink);
    }
  EXPECT_EQ(out, 4u);
}

TEST(Frames, AWholeOneIsGivenOutAtOnceAlsoWhenRoomIsMadeForIt) {
  FrameMemory all{.held = Frames::kOfAll};
  Frames frames;
  frames.share(all);
  for (unsigned i = 0; i < 32; i++) EXPECT_FALSE(add(frames, 1, i, 64, 1023, 7));
  for (unsigned i = 0; i < 32; i++) EXPECT_FALSE(add(frames, 2, i, 33, 1023, 7));
  const auto done = add(frames, 2, 32, 33, 1023, 7);
  ASSERT_TRUE(done);
  EXPECT_EQ(done->number, 2);
  EXPECT_TRUE(done->whole());
  EXPECT_EQ(frames.held(), 0u);
  all.held = 0;
}

TEST(Frames, OfAllLinksAreLimitedButForOneOfEach) {
  FrameMemory all;
  std::vector<std::unique_ptr<Frames>> links;
  for (unsigned link = 0; link < 100; link++) {
    links.push_back(std::make_unique<Frames>());
    links.back()->share(all);
    for (std::uint16_t n = 0; n < 3; n++)
      for (unsigned i = 0; i < 63; i++) add(*links.back(), n, i, 64, 1023, 7);
    EXPECT_GE(links.back()->held(), 63 * 1023u);
  }
  EXPECT_LE(all.held, Frames::kOfAll + 100 * 0xFFFF);
  for (auto& link : links) EXPECT_LE(link->expire(7 + 100 * PIB_NSEC_PER_MSEC), 3u);
  EXPECT_EQ(all.held, 0u);
  add(*links[0], 9, 0, 64, 1023, 7);
  EXPECT_EQ(all.held, 1023u);
  links.clear();
  EXPECT_EQ(all.held, 0u);
}

TEST(Ping, KeysAndLengths) {
  const Key key(32, 1), other(32, 2);
  Ping ping;
  ping.sequence = 5;
  ping.fabric = 3;
  const auto asked = build_ping(ping, 200, key);
  const auto responder = [](std::optional<Key> has) {
    return PingResponder{PingSoftware::pibping, [has](std::uint32_t) { return has; }};
  };
  const auto flags = [&](std::optional<Key> has) {
    const auto answer = answer_ping(asked, responder(has));
    EXPECT_EQ(answer.size(), asked.size());
    return parse_ping(answer)->flags;
  };
  EXPECT_EQ(flags(key), kPingKeyed | kPingAuthentic | kPingFabric);
  EXPECT_EQ(flags(other), kPingKeyed | kPingFabric);
  EXPECT_EQ(flags(Key{}), kPingFabric);
  EXPECT_EQ(flags({}), 0);
  EXPECT_TRUE(ping_is_authentic(answer_ping(asked, responder(key)), key));
  EXPECT_FALSE(ping_is_authentic(answer_ping(asked, responder(other)), key));
  EXPECT_TRUE(answer_ping(Bytes(47, 0x1E), responder(key)).empty());
}

TEST(State, SurvivesAndTamesNonsense) {
  const std::string path = testing::TempDir() + "/pibnetd-state";
  std::remove(path.c_str());
  EXPECT_TRUE(read_state(path)->empty());
  const std::vector<Reservation> all = {{"sw0", 0xA0, 1, 3}, {"sw1", 0xB0, 2, 254}};
  ASSERT_TRUE(write_state(path, all));
  EXPECT_EQ(*read_state(path), all);
  const auto holds = [&](const char* text) {
    std::FILE* file = std::fopen(path.c_str(), "w");
    std::fputs(text, file);
    std::fclose(file);
  };
  holds("nonsense");
  EXPECT_FALSE(read_state(path));
  holds(R"({"ports":[7,{"switch":"a"},{"switch":"a","guid":"0x1","peer_port":999,"port":1}]})");
  EXPECT_TRUE(read_state(path)->empty());
  std::remove(path.c_str());
}

class ControlTest : public ::testing::Test {
 protected:
  ControlTest() {
    EXPECT_TRUE(w.configure(R"({"switches": [{"name": "sw0", "ports": 3}, {"name": "sw1", "ports": 2}],
                                "cables": [["sw0/3", "sw1/1"]]})"));
    w.add(peer);
    w.run(500);
    hooks.reload = [] { return Status(Error{"no file"}); };
    hooks.listen = [] { return std::vector<Address>{fake::address(9)}; };
  }
  Json ask(const std::string& line) {
    return Json::parse(control_answer(w.core, hooks, line, w.now));
  }

  fake::World w;
  fake::Peer peer{1, 0xA0};
  ControlHooks hooks;
};

TEST_F(ControlTest, ShowsWhatThereIs) {
  const Json shown = ask(R"({"command":"show"})");
  EXPECT_TRUE(shown.at("ok"));
  EXPECT_EQ(shown.at("switches").size(), 2u);
  EXPECT_EQ(shown["switches"][0]["ports"][1]["state"], "INIT");
  const Json links = ask(R"({"command":"links"})");
  EXPECT_EQ(links.at("links").size(), 2u);
  EXPECT_EQ(links.at("peers").size(), 1u);
  EXPECT_EQ(links["peers"][0]["address"], "10.0.0.1:18514");
  const Json counters = ask(R"({"command":"counters"})");
  EXPECT_EQ(counters.at("counters").size(), 7u);
  EXPECT_TRUE(counters["counters"][0]["counters"].contains("port_xmit_bytes"));
  const Json uplinks = ask(R"({"command":"uplinks"})");
  EXPECT_GT(uplinks["uplinks"][0]["counters"]["rx_datagrams"], 0);
}

TEST_F(ControlTest, ChangesCables) {
  EXPECT_TRUE(ask(R"({"command":"plug","port":"sw0/1","plugged":false})").at("ok"));
  w.run(200);
  EXPECT_FALSE(peer.fsm.plugged);
  EXPECT_EQ(ask(R"({"command":"links"})")["links"][0]["plugged"], false);
  EXPECT_TRUE(ask(R"({"command":"plug","port":"sw0/1","plugged":true})").at("ok"));
  w.run(200);
  EXPECT_TRUE(peer.fsm.plugged);
  EXPECT_TRUE(ask(R"({"command":"faults","port":"sw0/1","loss":0.5,"seed":9})").at("ok"));
  EXPECT_TRUE(ask(R"({"command":"faults","port":"sw0/1","latency_ns":70})").at("ok"));
  const Json faults = ask(R"({"command":"links"})")["links"][0]["faults"];
  EXPECT_EQ(faults["loss"], 0.5);
  EXPECT_EQ(faults["seed"], 9);
  EXPECT_EQ(faults["latency_ns"], 70);
  EXPECT_TRUE(ask(R"({"command":"faults","port":"sw0/1","healthy":true})").at("ok"));
  EXPECT_FALSE(ask(R"({"command":"links"})")["links"][0].contains("faults"));
}

TEST_F(ControlTest, RefusesWithAReason) {
  for (const auto& [line, reason] : {
           std::pair{"", "JSON"},
           {"[1]", "command"},
           {R"({"command":"dance"})", "no command 'dance'"},
           {R"({"command":"show","port":1})", "takes no 'port'"},
           {R"({"command":"plug","port":"sw9/1","plugged":true})", "no switch 'sw9'"},
           {R"({"command":"plug","port":"sw0/4","plugged":true})", "ports 1 to 3"},
           {R"({"command":"plug","port":"sw0/2","plugged":true})", "no cable"},
           {R"({"command":"plug","port":"sw0/1"})", "plugged"},
           {R"({"command":"faults","port":"sw0/1","loss":2})", "from 0 to 1"},
           {R"({"command":"faults","port":"sw0/1","bit_errors":0.1})", "from 0 to 0.01"},
           {R"({"command":"faults","port":"sw0/1","flap_up_ms":5})", "go together"},
           {R"({"command":"faults","port":"sw0/2","loss":1})", "no cable"},
           {R"({"command":"reload"})", "no file"},
       }) {
    const Json answer = ask(line);
    EXPECT_FALSE(answer.at("ok")) << line;
    EXPECT_NE(answer.at("error").get<std::string>().find(reason), std::string::npos) << answer;
  }
}

TEST(Logs, AreStructured) {
  std::ostringstream out;
  Log text(out, LogFormat::text, LogLevel::info);
  text.info("link up", {{"port", "sw0/1"}, {"description", "a \"b\" c"}, {"n", std::uint64_t{4}}});
  text.debug("not shown");
  EXPECT_EQ(out.str(), "info: link up port=sw0/1 description=\"a \\\"b\\\" c\" n=4\n");
  out.str("");
  Log(out, LogFormat::json, LogLevel::info).error("x", {{"y", "\xff"}});
  const Json line = Json::parse(out.str());
  EXPECT_EQ(line.at("level"), "error");
  EXPECT_EQ(line.at("event"), "x");
}

// ---- over the loopback interface ----

class UdpTest : public ::testing::Test {
 protected:
  static Address loopback() {
    Address address;
    address.family = AF_INET;
    address.bytes = {127, 0, 0, 1};
    return address;
  }
  void SetUp() override {
    for (unsigned* socket : {&a, &b}) {
      const auto opened = udp.open(loopback());
      ASSERT_TRUE(opened) << opened.error().text;
      *socket = *opened;
    }
  }
  /// All datagrams that come, and how many super-packets that were.
  std::size_t gather(unsigned socket, std::size_t expected) {
    std::size_t supers = 0;
    for (int i = 0; i < 100 && came.size() < expected; i++) {
      pollfd wait = {udp.descriptor(socket), POLLIN, 0};
      ::poll(&wait, 1, 100);
      if (wait.revents) udp.readable(socket);
      supers += udp.receive([&](const Arrival& arrival) {
        from = arrival.path.remote;
        to = arrival.path.local;
        for (auto rest = arrival.bytes; !rest.empty();) {
          const auto one = rest.first(std::min(arrival.step, rest.size()));
          came.emplace_back(one.begin(), one.end());
          rest = rest.subspan(one.size());
        }
      });
    }
    return supers;
  }
  Path path_to(unsigned socket) { return {a, udp.local(socket), {}}; }

  Stats stats;
  Udp udp{stats};
  unsigned a = 0, b = 0;
  std::vector<Bytes> came;
  Address from, to;
};

TEST_F(UdpTest, SuperPacketsComeWhole) {
  Bytes bytes(10 * 1000 + 10);
  for (std::size_t i = 0; i < bytes.size(); i++) bytes[i] = static_cast<std::uint8_t>(i / 1000);
  const iovec parts[] = {{bytes.data(), 5000}, {bytes.data() + 5000, bytes.size() - 5000}};
  const iovec single = {bytes.data(), 7};
  udp.send(path_to(b), parts, 1000);
  udp.send(path_to(b), {&single, 1}, 0);
  udp.flush();
  const std::size_t supers = gather(b, 12);
  ASSERT_EQ(came.size(), 12u);
  EXPECT_LT(supers, 12u);
  for (std::uint8_t i = 0; i < 10; i++) EXPECT_EQ(came[i], Bytes(1000, i));
  EXPECT_EQ(came[10].size(), 10u);
  EXPECT_EQ(came[11].size(), 7u);
  EXPECT_EQ(from, udp.local(a));
  EXPECT_EQ(to.bytes, loopback().bytes);
  EXPECT_EQ(stats.counts[PIB_US_TX_ERRORS], 0u);
}

/// As many as the kernel keeps in a receive buffer of the usual size would not be left.
TEST_F(UdpTest, SocketsAreEmptiedWhileOthersAreSentTo) {
  const Bytes large(60000);
  const iovec part = {const_cast<std::uint8_t*>(large.data()), large.size()};
  udp.readable(b);
  for (int i = 0; i < 100; i++) udp.send(path_to(b), {&part, 1}, 1000);
  udp.flush();
  EXPECT_TRUE(udp.waiting());
  gather(b, 6000);
  EXPECT_EQ(came.size(), 6000u);
  EXPECT_EQ(udp.overruns(), 0u);
  EXPECT_FALSE(udp.waiting());
}

/// What one peer sends comes to one of them, and nobody else gets a share.
TEST_F(UdpTest, TwoShareAnAddress) {
  const Address at = udp.local(b);
  Stats more;
  Udp other(more), stranger(more);
  const auto joined = other.join(b, at, udp);
  ASSERT_TRUE(joined) << joined.error().text;
  EXPECT_EQ(other.local(b), at);
  EXPECT_FALSE(stranger.open(at));
  const std::uint8_t byte = 1;
  const iovec part = {const_cast<std::uint8_t*>(&byte), 1};
  for (int i = 0; i < 40; i++) {
    const unsigned from_socket = *udp.open(loopback());
    for (int twice = 0; twice < 2; twice++) udp.send({from_socket, at, {}}, {&part, 1}, 0);
  }
  udp.flush();
  const auto count = [this](Udp& one) {
    std::map<std::uint16_t, int> seen;
    one.readable(b);
    while (one.receive([&](const Arrival& in) { seen[in.path.remote.port] += static_cast<int>(in.bytes.size()); })) {
    }
    return seen;
  };
  const auto here = count(udp), there = count(other);
  EXPECT_EQ(here.size() + there.size(), 40u);
  EXPECT_FALSE(here.empty());
  EXPECT_FALSE(there.empty());
  for (const auto& all : {here, there})
    for (const auto& [port, bytes] : all) EXPECT_EQ(bytes, 2) << port;
}

/// More than the places for them, in a socket that is not looked into meanwhile.
TEST_F(UdpTest, WhatASocketDropsIsCounted) {
  const Bytes large(60000);
  const iovec part = {const_cast<std::uint8_t*>(large.data()), large.size()};
  for (int i = 0; i < 1000; i++) udp.send(path_to(b), {&part, 1}, 1000);
  udp.flush();
  const std::uint64_t lost = udp.overruns();
  EXPECT_GT(lost, 0u);
  EXPECT_EQ(stats.counts[PIB_US_RX_OVERRUNS], lost);
  EXPECT_EQ(udp.overruns(), 0u);
}

TEST_F(UdpTest, TheRoomIsThatOfTheRoute) {
  const std::size_t room = udp.room(path_to(b));
  EXPECT_GT(room, 1400u);
  EXPECT_LE(room, 65507u);
}

TEST_F(UdpTest, RoomsAreNotRememberedWithoutEnd) {
  Path path = path_to(b);
  const std::size_t room = udp.room(path);
  for (std::size_t i = 0; i < Udp::kRoomsMost + 100; i++) {
    path.remote.bytes[2] = static_cast<std::uint8_t>(i >> 8);
    path.remote.bytes[3] = static_cast<std::uint8_t>(i);
    udp.room(path);
    ASSERT_LE(udp.rooms(), Udp::kRoomsMost);
  }
  EXPECT_EQ(udp.room(path_to(b)), room);
}

TEST(UdpSockets, OneThatWasNeverOpenedIsClosed) {
  Stats stats;
  Udp udp(stats);
  udp.close(0);
  udp.close(100);
}

TEST_F(UdpTest, WhatCannotBeSentIsCounted) {
  const Bytes bytes(10);
  const iovec part = {const_cast<std::uint8_t*>(bytes.data()), bytes.size()};
  Path path;
  path.socket = kAnySocket;
  path.remote.family = AF_INET6;
  udp.send(path, {&part, 1}, 0);
  udp.flush();
  EXPECT_EQ(stats.counts[PIB_US_TX_ERRORS], 1u);
}

}  // namespace
}  // namespace pibnetd
