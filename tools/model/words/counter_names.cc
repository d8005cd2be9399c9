// SPDX-License-Identifier: GPL-2.0
#include "model/words/counter_names.h"

#include <linux/pib.h>

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

constexpr CounterName kUplink[] = {
	{PIB_US_TX_DATAGRAMS, "tx_datagrams"},
	{PIB_US_RX_DATAGRAMS, "rx_datagrams"},
	{PIB_US_TX_ERRORS, "tx_errors"},
	{PIB_US_RX_SHORT, "rx_short"},
	{PIB_US_RX_VERSION, "rx_version"},
	{PIB_US_RX_UNKNOWN_LINK, "rx_unknown_link"},
	{PIB_US_RX_WRONG_ADDR, "rx_wrong_address"},
	{PIB_US_RX_BAD_HELLO, "rx_bad_hello"},
	{PIB_US_RX_BAD_AUTH, "rx_bad_authentication"},
	{PIB_US_RX_MALFORMED, "rx_malformed"},
	{PIB_US_RX_BAD_ICRC, "rx_bad_icrc"},
	{PIB_US_RX_FABRIC, "rx_other_fabric"},
	{PIB_US_RX_REASM, "rx_reassembly"},
	{PIB_US_RX_OVERRUNS, "rx_overruns"},
	{PIB_US_RX_UNSEALED, "rx_unsealed"},
	{PIB_US_RX_BAD_SEAL, "rx_bad_seal"},
	{PIB_US_RX_REPLAYED, "rx_replayed"},
	{PIB_US_RX_STRANGER, "rx_stranger"},
	{PIB_US_RX_CE, "rx_ce"},
	{PIB_US_RX_NO_PORT, "rx_no_port"},
	{PIB_US_TX_SHRUNK, "tx_shrunk"},
	{PIB_US_TX_DROPPED, "tx_dropped"},
	{PIB_US_TX_WAITS, "tx_waits"},
	{PIB_US_TX_OVERDRAWN, "tx_overdrawn"},
	{PIB_US_RX_BAD_CREDITS, "rx_bad_credits"},
};

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
