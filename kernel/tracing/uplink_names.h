/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Made of netlink/pib.yaml by netlink/generate: not to be edited. */
/* sha256 62a9d7b3c4619215319fc008d3956b67b964c7f4fc889c24822be49776088bd4 */
#ifndef PIB_TRACING_UPLINK_NAMES_H
#define PIB_TRACING_UPLINK_NAMES_H

#define PIB_DATAGRAM_DROPS(X, LAST) \
	X(PIB_US_TX_ERRORS, "tx_errors") \
	X(PIB_US_RX_SHORT, "rx_short") \
	X(PIB_US_RX_VERSION, "rx_version") \
	X(PIB_US_RX_UNKNOWN_LINK, "rx_unknown_link") \
	X(PIB_US_RX_WRONG_ADDRESS, "rx_wrong_address") \
	X(PIB_US_RX_BAD_HELLO, "rx_bad_hello") \
	X(PIB_US_RX_BAD_AUTHENTICATION, "rx_bad_authentication") \
	X(PIB_US_RX_MALFORMED, "rx_malformed") \
	X(PIB_US_RX_BAD_ICRC, "rx_bad_icrc") \
	X(PIB_US_RX_OTHER_FABRIC, "rx_other_fabric") \
	X(PIB_US_RX_REASSEMBLY, "rx_reassembly") \
	X(PIB_US_RX_OVERRUNS, "rx_overruns") \
	X(PIB_US_RX_UNSEALED, "rx_unsealed") \
	X(PIB_US_RX_BAD_SEAL, "rx_bad_seal") \
	X(PIB_US_RX_REPLAYED, "rx_replayed") \
	X(PIB_US_RX_STRANGER, "rx_stranger") \
	X(PIB_US_RX_NO_PORT, "rx_no_port") \
	X(PIB_US_TX_DROPPED, "tx_dropped") \
	LAST(PIB_US_RX_BAD_CREDITS, "rx_bad_credits")

#endif
