// SPDX-License-Identifier: GPL-2.0
#include "objects/fake_objects.h"

#include <linux/pib.h>

#include "netlink/fake_kernel.h"

namespace pib::ctl::fake {
namespace {

Bytes end(std::uint16_t type, std::string_view node, std::uint32_t port)
{
	return nest(type, {text(PIB_END_NODE, node), u32(PIB_END_PORT, port)});
}

Bytes hca_port()
{
	return nest(
		PIB_A_PORT,
		{u32(PIB_P_NUM, 1), u64(PIB_P_GUID, 0x0250c2fffe000002), u8(PIB_P_STATE, 4),
		 u8(PIB_P_PHYS_STATE, 5), u16(PIB_P_LID, 3), u8(PIB_P_LMC, 0), u16(PIB_P_SM_LID, 1),
		 u32(PIB_P_MTU, 2048), u8(PIB_P_WIDTH, 2), u8(PIB_P_SPEED, 1),
		 nest(PIB_P_COUNTERS, {u64(PIB_C_XMIT_BYTES, 1ULL << 40), u64(PIB_C_XMIT_WAIT, 5)}),
		 text(PIB_P_NETDEV, "eth0")});
}

} // namespace

Bytes hca_answer()
{
	return join({text(PIB_A_HCA_NAME, "pib0"), u32(PIB_A_IBDEV_INDEX, 2),
		     text(PIB_A_DESCRIPTION, "host1 pib0"),
		     u64(PIB_A_NODE_GUID, 0x0250c2fffe000001), text(PIB_A_NETDEV, "eth0"),
		     u32(PIB_A_IFINDEX, 4), u32(PIB_A_NUM_PORTS, 1), u32(PIB_A_FABRIC, 0),
		     u16(PIB_A_UDP_PORT, 18514), hca_port(), text(PIB_A_MODULE_VERSION, "0.1.0")});
}

Bytes switch_answer()
{
	return join(
		{text(PIB_A_SWITCH_NAME, "eth0"), u64(PIB_A_NODE_GUID, 0x0250c2fffe000003),
		 u32(PIB_A_NUM_PORTS, 2), flag(PIB_A_AUTO),
		 u64(PIB_A_SYS_IMAGE_GUID, 0x0250c2fffe000009), u32(PIB_A_VENDOR_ID, 0x2c9),
		 u32(PIB_A_DEVICE_ID, 0xd2f0), flag(PIB_A_ENHANCED_PORT0),
		 nest(PIB_A_PORT, {u32(PIB_P_NUM, 0), u16(PIB_P_LID, 2)}),
		 nest(PIB_A_PORT, {u32(PIB_P_NUM, 1), u8(PIB_P_STATE, 1), u8(PIB_P_PHYS_STATE, 2)}),
		 text(PIB_A_MODULE_VERSION, "0.1.0")});
}

Bytes local_link_answer()
{
	return join({end(PIB_A_LINK_A, "pib0", 1), end(PIB_A_LINK_B, "eth0", 1),
		     u8(PIB_A_LINK_STATE, 1), flag(PIB_A_AUTO)});
}

Bytes fault_answer()
{
	const Bytes counts =
		nest(PIB_F_COUNTS,
		     {end(PIB_FC_TO, "pib0", 1), u64(PIB_FC_PACKETS, 100), u64(PIB_FC_LOST, 1),
		      u64(PIB_FC_DAMAGED, 2), u64(PIB_FC_DUPLICATED, 3), u64(PIB_FC_REORDERED, 4)});
	return nest(PIB_A_LINK_FAULT,
		    {u64(PIB_F_SEED, 7), u32(PIB_F_LOSS, 10'000'000), u64(PIB_F_BIT_ERRORS, 1000),
		     u64(PIB_F_LATENCY, 10'000), u32(PIB_F_BUFFER, 16384), counts});
}

Bytes udp_link_answer()
{
	const Bytes peer =
		nest(PIB_UL_PEER, {binary(PIB_EP_ADDR4, {192, 0, 2, 7}), u16(PIB_EP_PORT, 18514)});
	return join({end(PIB_A_LINK_A, "eth0", 2),
		     nest(PIB_A_UDP_LINK,
			  {text(PIB_UL_NETDEV, "eth0"), peer, u32(PIB_UL_LOCAL_ID, 11),
			   u32(PIB_UL_REMOTE_ID, 12), u8(PIB_UL_UP, 1),
			   u64(PIB_UL_PEER_NODE_GUID, 0x0250c2fffe000004),
			   u32(PIB_UL_PEER_PORT_NUM, 3), text(PIB_UL_PEER_DESC, "evil\x1b[2J\xff"),
			   u32(PIB_UL_LAST_HEARD_MS, 120), u32(PIB_UL_RESTARTS, 1)})});
}

Bytes uplink_answer()
{
	return join(
		{text(PIB_A_NETDEV, "eth0"), u32(PIB_A_IFINDEX, 4), u32(PIB_A_FABRIC, 0),
		 u16(PIB_A_UDP_PORT, 18514), text(PIB_A_SWITCH_NAME, "eth0"),
		 nest(PIB_A_STATS, {u64(PIB_US_TX_DATAGRAMS, 10), u64(PIB_US_RX_REASSEMBLY, 2)})});
}

Bytes queue_pair_answer()
{
	return join({text(PIB_A_MODULE_VERSION, "0.1.0"), text(PIB_A_HCA_NAME, "pib0"),
		     nest(PIB_A_OBJECT,
			  {u8(PIB_O_KIND, PIB_OBJECT_KIND_QP), u64(PIB_O_ID, 5),
			   u64(PIB_O_CREATED, 1772366400250163492), text(PIB_O_OWNER, "ib_send_bw"),
			   u32(PIB_O_UID, 1000), u32(PIB_O_PID, 4711), u32(PIB_O_HANDLE, 3),
			   u64(PIB_O_QPN, 17), u64(PIB_O_TYPE, 2), u64(PIB_O_STATE, 3),
			   u64(PIB_O_UNA_PSN, 0x10), u64(PIB_O_NEXT_PSN, 0x12),
			   u64(PIB_O_ACK_USEC, 900)})});
}

Bytes attachment_answer()
{
	return join({text(PIB_A_HCA_NAME, "pib0"),
		     nest(PIB_A_OBJECT,
			  {u8(PIB_O_KIND, PIB_OBJECT_KIND_ATTACHMENT), u64(PIB_O_ID, 1),
			   u64(PIB_O_CREATED, 1'000'000'000), text(PIB_O_OWNER, "ib_ipoib"),
			   u64(PIB_O_QPN, 18), u64(PIB_O_DLID, 0xc000),
			   binary(PIB_O_GID, {0xff, 0x12, 0x40, 0x1b, 0xff, 0xff, 0, 0, 0, 0, 0, 0,
					      0, 0, 0, 1})})});
}

} // namespace pib::ctl::fake
