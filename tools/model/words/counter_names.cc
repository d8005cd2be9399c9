// SPDX-License-Identifier: GPL-2.0
#include "model/words/counter_names.h"

#include <linux/pib.h>

#include <iterator>

namespace pib::inline model {
namespace {

constexpr CounterName kPort[] = {
	{PIB_C_XMIT_BYTES, "port_xmit_bytes"},
	{PIB_C_RCV_BYTES, "port_rcv_bytes"},
	{PIB_C_XMIT_PKTS, "port_xmit_packets"},
	{PIB_C_RCV_PKTS, "port_rcv_packets"},
	{PIB_C_UNICAST_XMIT, "unicast_xmit_packets"},
	{PIB_C_UNICAST_RCV, "unicast_rcv_packets"},
	{PIB_C_MCAST_XMIT, "multicast_xmit_packets"},
	{PIB_C_MCAST_RCV, "multicast_rcv_packets"},
	{PIB_C_SYMBOL_ERR, "symbol_error"},
	{PIB_C_LINK_RECOVERY, "link_error_recovery"},
	{PIB_C_LINK_DOWNED, "link_downed"},
	{PIB_C_RCV_ERR, "port_rcv_errors"},
	{PIB_C_RCV_REMPHYS_ERR, "port_rcv_remote_physical_errors"},
	{PIB_C_RCV_SWITCH_RELAY_ERR, "port_rcv_switch_relay_errors"},
	{PIB_C_XMIT_DISCARD, "port_xmit_discards"},
	{PIB_C_XMIT_CONSTRAINT_ERR, "port_xmit_constraint_errors"},
	{PIB_C_RCV_CONSTRAINT_ERR, "port_rcv_constraint_errors"},
	{PIB_C_LOCAL_INTEGRITY_ERR, "local_link_integrity_errors"},
	{PIB_C_VL15_DROPPED, "VL15_dropped"},
	{PIB_C_XMIT_WAIT, "port_xmit_wait"},
	{PIB_C_QP1_DROPPED, "qp1_dropped"},
};

#include "model/words/uplink_names.inc"

static_assert(std::size(kPort) == PIB_C_MAX - PIB_C_XMIT_BYTES + 1);

} // namespace

std::span<const CounterName> port_counter_names()
{
	return kPort;
}
std::span<const CounterName> uplink_counter_names()
{
	return kUplink;
}

} // namespace pib::inline model
