// SPDX-License-Identifier: GPL-2.0
#include "schema.h"

#include <fmt/format.h>
#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <linux/pib.h>

#include <algorithm>
#include <span>

#include "attributes.h"

namespace pibctl {
namespace {

struct Name;
using Names = std::span<const Name>;

struct Name {
  std::uint16_t type;
  const char* text;
  Names nested = {};
};

// As in netlink/pib.yaml; only what requests carry.
const Name kEnd[] = {{PIB_END_NODE, "node"}, {PIB_END_PORT, "port"}};
const Name kEndpoint[] = {
    {PIB_EP_ADDR4, "addr4"}, {PIB_EP_ADDR6, "addr6"}, {PIB_EP_PORT, "port"}};
const Name kUdpLink[] = {{PIB_UL_NETDEV, "netdev"}, {PIB_UL_PEER, "peer", kEndpoint}};
const Name kFault[] = {
    {PIB_F_NONE, "none"},           {PIB_F_SEED, "seed"},
    {PIB_F_LOSS, "loss"},           {PIB_F_DUPLICATE, "duplicate"},
    {PIB_F_REORDER, "reorder"},     {PIB_F_BIT_ERRORS, "bit-errors"},
    {PIB_F_LATENCY, "latency"},     {PIB_F_RATE, "rate"},
    {PIB_F_FLAP_UP, "flap-up"},     {PIB_F_FLAP_DOWN, "flap-down"},
    {PIB_F_BUFFER, "buffer"},
};
const Name kTop[] = {
    {PIB_A_HCA_NAME, "hca-name"},
    {PIB_A_SWITCH_NAME, "switch-name"},
    {PIB_A_IFINDEX, "ifindex"},
    {PIB_A_NETDEV, "netdev"},
    {PIB_A_NODE_GUID, "node-guid"},
    {PIB_A_NUM_PORTS, "num-ports"},
    {PIB_A_FABRIC, "fabric"},
    {PIB_A_UDP_PORT, "udp-port"},
    {PIB_A_STANDALONE, "standalone"},
    {PIB_A_PEER, "peer", kEndpoint},
    {PIB_A_LINK_A, "link-a", kEnd},
    {PIB_A_LINK_B, "link-b", kEnd},
    {PIB_A_UDP_LINK, "udp-link", kUdpLink},
    {PIB_A_LINK_STATE, "link-state"},
    {PIB_A_DESCRIPTION, "description"},
    {PIB_A_KEY, "key"},
    {PIB_A_LINK_WIDTH, "link-width"},
    {PIB_A_LINK_SPEED, "link-speed"},
    {PIB_A_LINK_FAULT, "link-fault", kFault},
    {PIB_A_SYS_IMAGE_GUID, "sys-image-guid"},
    {PIB_A_VENDOR_ID, "vendor-id"},
    {PIB_A_DEVICE_ID, "device-id"},
    {PIB_A_ENHANCED_PORT0, "enhanced-port0"},
};

constexpr std::size_t kHeaders = NLMSG_HDRLEN + GENL_HDRLEN;

struct Place {
  std::string path;
  Names nested;
};

Place name_of(Names names, std::uint16_t type) {
  const auto found = std::ranges::find(names, type, &Name::type);
  if (found == names.end()) return {fmt::format("number {}", type), {}};
  return {found->text, found->nested};
}

std::optional<Place> place_at(View stream, std::size_t offset, Names names) {
  const Attributes attributes(stream);
  for (const Attribute& attribute : attributes.all()) {
    const std::size_t end = attribute.offset + NLA_HDRLEN + attribute.payload.size();
    if (offset < attribute.offset || offset >= end) continue;
    Place place = name_of(names, attribute.type);
    if (offset == attribute.offset || place.nested.empty()) return place;
    const std::size_t inside = offset - attribute.offset;
    if (inside < NLA_HDRLEN) return place;
    const auto inner = place_at(attribute.payload, inside - NLA_HDRLEN, place.nested);
    if (!inner) return place;
    return Place{fmt::format("{}/{}", place.path, inner->path), inner->nested};
  }
  return std::nullopt;
}

std::optional<Place> place_in(View request, std::size_t offset) {
  if (offset < kHeaders || request.size() < kHeaders) return std::nullopt;
  return place_at(request.subspan(kHeaders), offset - kHeaders, kTop);
}

}  // namespace

std::optional<std::string> attribute_at(View request, std::size_t offset) {
  const auto place = place_in(request, offset);
  if (!place) return std::nullopt;
  return place->path;
}

std::string missing_attribute(View request, std::optional<std::size_t> nest, std::uint16_t type) {
  if (!nest) return name_of(kTop, type).path;
  const auto place = place_in(request, *nest);
  if (!place) return fmt::format("number {}", type);
  return fmt::format("{}/{}", place->path, name_of(place->nested, type).path);
}

}  // namespace pibctl
