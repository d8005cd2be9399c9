/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The transport: requester and responder of one queue pair, as state machines
 * without I/O (IBA 9.7 reliable, 9.8 unreliable services).
 *
 * The surroundings ("env": the kernel's transport/, or the simulator) own the
 * memory, the completion queues, the clock and the path. They hold the queue
 * pair's lock around every call here.
 *
 *	env posts:      fill the slot pib_req_slot() gives, then pib_req_post()
 *	env sends:      while (pib_req_next(r, now, &tx)) build a burst from tx
 *	env receives:   requests:  pib_resp_begin(); while (pib_resp_step()) do
 *	                what the action says, pib_resp_result()
 *	                responses: pib_req_response(), copy where it says
 *	                then: while (pib_resp_next()) send; while (pib_req_next()) send
 *	env completes:  while ((w = pib_req_done(r))) make a CQE; pib_req_retire()
 *	env times:      at pib_req_deadline() call pib_req_timer()
 *
 * Posting and completing are in rc_ring.h.
 */
#ifndef PIB_PROTO_RC_H
#define PIB_PROTO_RC_H

#include "hdrs.h"

/* Work request opcodes: the numbers of enum ib_uverbs_wr_opcode, and the kernel's own. */
enum pib_wr {
	PIB_WR_WRITE = 0,
	PIB_WR_WRITE_IMM = 1,
	PIB_WR_SEND = 2,
	PIB_WR_SEND_IMM = 3,
	PIB_WR_READ = 4,
	PIB_WR_CAS = 5,
	PIB_WR_FAA = 6,
	PIB_WR_LOCAL_INV = 7,
	PIB_WR_BIND_MW = 8,
	PIB_WR_SEND_INV = 9,
	PIB_WR_LSO = 10,	/* datagrams: one large send, many packets (11.4.1.1) */
	PIB_WR_FLUSH = 14,
	PIB_WR_ATOMIC_WRITE = 15,
	PIB_WR_REG_MR = 16,
	PIB_WR_COUNT
};

enum pib_wr_flags {	/* numbers of enum ib_uverbs_send_flags */
	PIB_WR_FENCE = 1 << 0,
	PIB_WR_SIGNALED = 1 << 1,
	PIB_WR_SOLICITED = 1 << 2,
	PIB_WR_INLINE = 1 << 3,
	PIB_WR_IP_CSUM = 1 << 4,	/* fill in the checksums of IP, TCP and UDP */
};

/* Completion status: the numbers of enum ib_wc_status. */
enum pib_wc {
	PIB_WC_SUCCESS = 0,
	PIB_WC_LOC_LEN_ERR = 1,
	PIB_WC_LOC_QP_OP_ERR = 2,
	PIB_WC_LOC_EEC_OP_ERR = 3,
	PIB_WC_LOC_PROT_ERR = 4,
	PIB_WC_WR_FLUSH_ERR = 5,
	PIB_WC_MW_BIND_ERR = 6,
	PIB_WC_BAD_RESP_ERR = 7,
	PIB_WC_LOC_ACCESS_ERR = 8,
	PIB_WC_REM_INV_REQ_ERR = 9,
	PIB_WC_REM_ACCESS_ERR = 10,
	PIB_WC_REM_OP_ERR = 11,
	PIB_WC_RETRY_EXC_ERR = 12,
	PIB_WC_RNR_RETRY_EXC_ERR = 13,
	PIB_WC_FATAL_ERR = 19,
	PIB_WC_GENERAL_ERR = 21,
};

/**
 * struct pib_swqe - a validated send work request
 *
 * The first part is filled by env before pib_req_post(), the second belongs to
 * the requester. Env may embed it as the first member of a larger slot.
 *
 * @wr_id: for the completion
 * @opcode: enum pib_wr
 * @flags: enum pib_wr_flags
 * @len: bytes of the message
 * @ex: immediate data (wire order) or R_Key to invalidate
 * @srqn: XRC
 * @va: remote address
 * @rkey: remote key
 * @compare_add: CAS: compare; FAA: add
 * @swap: CAS: swap; ATOMIC_WRITE: the value
 * @dqpn: UD: destination
 * @qkey: UD
 * @mss: LSO: bytes of the message in each packet but the last; else 0
 * @head_len: LSO: bytes of headers that env puts before each packet's part of the message
 * @flush: FLUSH: as struct pib_hdrs.flush
 * @state: requester's
 * @status: enum pib_wc once done
 * @psn: first PSN; if it takes none, that of the work request that is started next
 * @npkts: PSNs it takes: packets of a request, or of the response to a READ; 0: none
 * @off: bytes handed out for sending (SEND, WRITE) or received (READ)
 * @ssn: send sequence number of its first message, for credits
 */
struct pib_swqe {
	u64 wr_id;
	u8 opcode;
	u8 flags;
	u8 flush;
	u8 state;
	u32 len;
	u32 ex;
	u32 srqn;
	u64 va;
	u64 compare_add;
	u64 swap;
	u32 rkey;
	u32 dqpn;
	u32 qkey;
	u16 mss;
	u16 head_len;

	u32 status;
	u32 psn;
	u32 npkts;
	u32 off;
	u32 ssn;
};

enum pib_tx_kind {
	PIB_TX_REQUEST,		/* payload: @len bytes of @wqe's message from @off on */
	/* execute @wqe (LOCAL_INV, REG_MR, BIND_MW), then pib_req_local_done() */
	PIB_TX_LOCAL,
	PIB_TX_ACK,		/* ACK, NAK or atomic response: no payload */
	/* payload: @len bytes at @va through @rkey; if that fails pib_resp_read_failed() */
	PIB_TX_READ_RESP,
};

/**
 * struct pib_tx_req - something to send
 * @kind: enum pib_tx_kind
 * @h: transport headers; env adds LRH, GRH, P_Key and for UD the AH's fields and the source QP.
 *	PIB_TX_READ_RESP: @h.srqn is the one that the request named
 * @npkts: packets of this burst
 * @len: bytes of payload; LSO: without the headers that env puts before each packet's
 * @off: offset of the payload in the message
 * @va: PIB_TX_READ_RESP: address
 * @rkey: PIB_TX_READ_RESP: key
 * @wqe: PIB_TX_REQUEST, PIB_TX_LOCAL: the work request
 */
struct pib_tx_req {
	u8 kind;
	struct pib_hdrs h;
	u32 npkts;
	u32 len;
	u32 off;
	u32 rkey;
	u64 va;
	struct pib_swqe *wqe;
};

/**
 * struct pib_req_cfg - the sending side's part of modify_qp
 * @tp: RC, UC, UD or XRC
 * @retry_cnt: 0..7
 * @rnr_retry: 0..7, 7 is without end
 * @timeout: local ACK timeout exponent, 0 is without end (9.7.6.1.3)
 * @max_rd_atomic: outstanding READs and atomics
 * @pmtu: bytes
 * @dqpn: destination QP
 * @max_burst: most bytes of payload to put in one burst, at least @pmtu. Also the most that one
 *	READ request asks for: a longer READ goes out as several, each with an SSN of its own, so
 *	that responses come no faster than requests let them
 * @max_window: most packets in flight, 0: the default (4 MiB)
 * @rnr_times: an RNR timer runs so many times as long as the peer asks for, 0: once
 * @early_inv: a LOCAL_INV that is not fenced does not wait for the end of work requests posted
 *	before it
 */
struct pib_req_cfg {
	u8 tp;
	u8 retry_cnt;
	u8 rnr_retry;
	u8 timeout;
	u8 max_rd_atomic;
	u32 pmtu;
	u32 dqpn;
	u32 max_burst;
	u32 max_window;
	u8 rnr_times;
	bool early_inv;
};

/**
 * struct pib_req_stats - counted events of a requester
 * @packet_seq_err: NAKs received for a sequence error
 * @rnr_nak_rcvd: RNR NAKs received
 * @timeouts: times that no answer came
 * @late: times that no answer came in the time that the round trip lets expect
 * @retransmits: packets sent again
 * @dup_acks: responses to requests that were answered before, or that were not made
 * @bad_responses: responses that fit nothing that was sent
 * @implied_nak: responses beyond the one expected
 */
struct pib_req_stats {
	u64 packet_seq_err;
	u64 rnr_nak_rcvd;
	u64 timeouts;
	u64 late;
	u64 retransmits;
	u64 dup_acks;
	u64 bad_responses;
	u64 implied_nak;
};

/**
 * struct pib_req - requester
 * @cfg: configuration
 * @ring: slots, each starts with struct pib_swqe
 * @stride: bytes from slot to slot
 * @mask: slots less one
 * @head: next slot to post; this and the other indices run on, @mask makes a slot of them
 * @cur: slot to send from
 * @una: oldest slot not finished
 * @tail: oldest slot not retired
 * @next_psn: of the next packet never sent before
 * @snd_psn: of the next packet to send; behind @next_psn while sending again
 * @una_psn: oldest not acknowledged
 * @mtu_shift: log2 of the path MTU
 * @burst: most packets in a burst
 * @ssn: of the next message
 * @credit_limit: highest SSN that the peer has a receive work request for
 * @since_ackreq: packets sent since the last that asked for an acknowledgement
 * @cwnd: packets that may be in flight
 * @ssthresh: @cwnd up to which it doubles in a round trip
 * @acked_in_round: packets acknowledged since @cwnd was last raised, above @ssthresh
 * @recover_psn: the window is not cut again before all up to here are acknowledged
 * @gap_psn: @una_psn when a gap in responses was last acted upon
 * @gap_last: PSN of the last response that showed this gap
 * @nak_psn: PSN of the sequence error NAK last acted upon
 * @strays_psn: until all up to here is acknowledged, a gap in responses costs no retry
 * @rd_atomic_out: READs, atomics and the like requested and not answered
 * @retries_left: of cfg.retry_cnt, since the last progress
 * @rnr_left: of cfg.rnr_retry, since the last progress
 * @error: enum pib_wc: a WQE has failed and nothing more is sent; env moves the QP to ERR (UD, UC:
 *	SQE)
 * @stopped: SQD: start no further WQE
 * @no_credits: peer has sent AETH credits 0x1F: do not limit
 * @flushing: in ERR: unfinished work requests are flushed
 * @recovering: @recover_psn is valid
 * @gap_seen: @gap_psn and @gap_last are valid
 * @nak_seen: @nak_psn is valid
 * @strays: @strays_psn is valid
 * @news: @stats have changed; env clears it
 * @spare: there is another path, to try when retries are used up
 * @leave: retries are used up: env calls pib_req_new_path()
 * @unproven: the peer was not heard since the path was changed
 * @late_min: an answer is not late before that, ns; 0: the path loses next to nothing
 * @probes: answers that were late since the last progress
 * @backoff: answers that were late since the round trip was measured, up to a bound
 * @msgs_unasked: messages sent since the last that asked for an acknowledgement
 * @asked_psn: behind the last packet that asked, or that is itself answered
 * @ack_deadline: ns, 0: none
 * @rnr_deadline: ns, 0: none
 * @probe_deadline: time at which the answer is late by the round trip, ns, 0: none
 * @timed_at: time at which the packet before @timed_psn asked, ns, 0: none is timed
 * @timed_psn: see there
 * @srtt: round trip, smoothed, ns, 0: not known yet
 * @rttvar: its variation, ns
 * @ask_deadline: time to ask about packets that were sent without asking, ns, 0: there are none
 * @stats: counters
 *
 * Env reads @stats, @error, @leave and @unproven, and sets nothing but through functions.
 */
struct pib_req {
	struct pib_req_cfg cfg;
	void *ring;
	u32 stride;
	u32 mask;
	u32 head;
	u32 cur;
	u32 una;
	u32 tail;
	u32 next_psn;
	u32 snd_psn;
	u32 una_psn;
	u32 mtu_shift;
	u32 burst;
	u32 ssn;
	u32 credit_limit;
	u32 since_ackreq;
	u32 cwnd;
	u32 ssthresh;
	u32 acked_in_round;
	u32 recover_psn;
	u32 gap_psn;
	u32 gap_last;
	u32 nak_psn;
	u32 strays_psn;
	u32 msgs_unasked;
	u32 asked_psn;
	u32 timed_psn;
	u32 rd_atomic_out;
	u8 retries_left;
	u8 rnr_left;
	u8 error;
	u8 stopped;
	bool no_credits;
	bool flushing;
	bool recovering;
	bool gap_seen;
	bool nak_seen;
	bool strays;
	bool news;
	bool spare;
	bool leave;
	bool unproven;
	u8 probes;
	u8 backoff;
	u32 late_min;
	u64 ack_deadline;
	u64 rnr_deadline;
	u64 probe_deadline;
	u64 timed_at;
	u64 srtt;
	u64 rttvar;
	u64 ask_deadline;
	struct pib_req_stats stats;
};

/*
 * Set up. @ring: zeroed slots of @stride bytes, @mask + 1 of them (a power of two). Context: under
 * the queue pair's lock, or before anybody else knows the queue pair.
 */
void pib_req_init(struct pib_req *r, void *ring, u32 stride, u32 mask);
/* RTR -> RTS: set the configuration and start at @psn. Context: under the queue pair's lock. */
void pib_req_start(struct pib_req *r, const struct pib_req_cfg *cfg, u32 psn);
/*
 * Change the configuration of a running requester (modify_qp RTS -> RTS, SQD -> RTS). The MTU
 * and the burst size change only where nothing is under way. Context: under the queue pair's lock.
 */
void pib_req_reconfig(struct pib_req *r, const struct pib_req_cfg *cfg);
/*
 * Say whether there is another path, for which @r->leave asks before the QP is given up (17.2.8).
 * Context: under the queue pair's lock.
 */
void pib_req_set_spare(struct pib_req *r, bool spare);
/*
 * Note that env has changed the path (17.2.8): all retries are there again. Unacknowledged packets
 * are sent once more, for they may have been lost with the old path. @timeout: as struct
 * pib_req_cfg.timeout; @heard: the peer has come by the new path. Context: under the queue pair's
 * lock.
 */
void pib_req_new_path(struct pib_req *r, u8 timeout, bool heard);
/*
 * Say that packets go by a network that may lose some, until another path is set: @late_min is the
 * time, in ns, before which no answer is late. With that the window begins again. Context:
 * under the queue pair's lock.
 */
void pib_req_set_lossy(struct pib_req *r, u32 late_min);
/*
 * Return: true if bursts are smaller than they could be, since the window is: if one is lost those
 * behind it tell. Context: under the queue pair's lock.
 */
bool pib_req_is_narrow(const struct pib_req *r);
/*
 * To SQD (@stop) and back: work requests that were started are finished, none begins (10.3.1.5).
 * Context: under the queue pair's lock.
 */
void pib_req_stop(struct pib_req *r, bool stop);
/*
 * SQE -> RTS: send the work requests that are posted from now on, with the PSNs going on. Context:
 * under the queue pair's lock.
 */
void pib_req_resume(struct pib_req *r);
/*
 * Check @tx, which pib_req_next() gave out and env could not send at once. Context: under the queue
 * pair's lock.
 *
 * Return: true if env still has to send it; false: it was acknowledged meanwhile, will be given out
 *	again, or nothing is sent any more.
 */
bool pib_req_wanted(const struct pib_req *r, const struct pib_tx_req *tx);
/*
 * Excuse the peer's silence up to @now, in ns: env was not able to send or to take anything in.
 * Context: under the queue pair's lock.
 */
void pib_req_excuse(struct pib_req *r, u64 now);
/*
 * Get the next thing to send at @now, in ns. It counts as sent. Context: under the queue pair's
 * lock.
 *
 * Return: false: there is nothing to do now.
 */
bool pib_req_next(struct pib_req *r, u64 now, struct pib_tx_req *tx);
/*
 * Fail @w with @status, enum pib_wc: the burst that pib_req_next() described could not be made, or
 * response data could not be placed. Work requests posted before @w are finished properly first,
 * then @r->error is set. Context: under the queue pair's lock.
 */
void pib_req_local_error(struct pib_req *r, struct pib_swqe *w, u32 status);
/*
 * Note that the local operation @w (PIB_TX_LOCAL) was executed with @status, enum pib_wc. Context:
 * under the queue pair's lock.
 */
void pib_req_local_done(struct pib_req *r, struct pib_swqe *w, u32 status);

/**
 * struct pib_place - the place of response data
 * @wqe: NULL: nowhere
 * @wqe_off: offset in the work request's message
 * @src_off: offset in the burst's payload
 * @len: bytes
 * @orig: atomic response: the original value (@len is then 8 and there is no payload)
 * @is_atomic: see @orig
 */
struct pib_place {
	struct pib_swqe *wqe;
	u32 wqe_off;
	u32 src_off;
	u32 len;
	u64 orig;
	bool is_atomic;
};

/**
 * pib_req_response() - take in an ACK, NAK, READ response or atomic response (9.7.5.1)
 * @r: requester
 * @h: headers of the burst
 * @npkts: packets of the burst
 * @len: bytes of payload
 * @now: ns
 * @pl: result; env copies, and on failure calls pib_req_local_error()
 *
 * Env fills the place before it calls pib_req_done() again. A response that fits nothing changes
 * only the counters.
 *
 * Context: under the queue pair's lock.
 */
void pib_req_response(struct pib_req *r, const struct pib_hdrs *h, u32 npkts,
		      u32 len, u64 now, struct pib_place *pl);
/*
 * Treat a response as lost, since env cannot fill its place for long. The response is asked for
 * again with the next pib_req_next(). Between the two calls env takes no other response in, and
 * completes nothing. If nothing is sent any more, the work request ends as flushed. @pl: of the
 * last response, with data. Context: under the queue pair's lock.
 */
void pib_req_forget_response(struct pib_req *r, const struct pib_place *pl);
/* Return: the earlier of two times; 0 stands for none. Context: any. */
static inline u64 pib_rc_sooner(u64 a, u64 b)
{
	return a && (!b || a < b) ? a : b;
}

/*
 * Return: the earliest time at which env calls pib_req_timer(), ns; 0: none. Context: under the
 * queue pair's lock.
 */
static inline u64 pib_req_deadline(const struct pib_req *r)
{
	return pib_rc_sooner(pib_rc_sooner(r->ask_deadline, r->probe_deadline),
			     pib_rc_sooner(r->ack_deadline, r->rnr_deadline));
}

/* Do what is due at @now, in ns (9.7.6.1.3). Context: under the queue pair's lock. */
void pib_req_timer(struct pib_req *r, u64 now);
/*
 * To ERR or SQE: every work request not finished yet ends with WR_FLUSH_ERR, now and later
 * (10.3.1). Context: under the queue pair's lock.
 */
void pib_req_flush(struct pib_req *r);
/*
 * Return: true if all work requests that were started are finished (not: retired), as in SQD.
 * Context: under the queue pair's lock.
 */
bool pib_req_drained(const struct pib_req *r);

/* ---- responder ---- */

/**
 * struct pib_resp_cfg - the receiving side's part of modify_qp
 * @tp: RC, UC or XRC (UD is stateless: pib_ud_check())
 * @min_rnr_timer: code sent in RNR NAKs
 * @max_rd_atomic: max_dest_rd_atomic
 * @credits: false: advertise no end-to-end credits (SRQ)
 * @ack_each: acknowledge each message, whether the requester asks for it or not
 * @pmtu: bytes
 * @dqpn: destination QP
 * @max_burst: most bytes of payload to put in one burst of an answer
 */
struct pib_resp_cfg {
	u8 tp;
	u8 min_rnr_timer;
	u8 max_rd_atomic;
	bool credits;
	bool ack_each;
	u32 pmtu;
	u32 dqpn;
	u32 max_burst;
};

enum pib_act_kind {
	PIB_ACT_SEND,		/* copy into the current receive WQE at @off */
	PIB_ACT_WRITE,		/* copy to @va through @rkey; @dmalen 0: neither checked (C9-88) */
	/* check READ access: that of the QP, and to @dmalen bytes at @va if any (C9-88) */
	PIB_ACT_READ,
	PIB_ACT_CAS,		/* 8 bytes at @va: execute, give the original value */
	PIB_ACT_FAA,
	PIB_ACT_ATOMIC_WRITE,
	PIB_ACT_FLUSH,
	/* UC: the message is lost: its receive WQE, if one was taken, is used again */
	PIB_ACT_ABORT_RECV,
};

/**
 * struct pib_act - the task of env for a part of a burst
 * @kind: enum pib_act_kind
 * @first: SEND: take a receive WQE first (none: PIB_RES_RNR).
 *	WRITE: check access to the whole of @dmalen bytes at @va0 first
 * @take_recv: WRITE with immediate, last packet: take a receive WQE first
 * @last: the message ends: complete the receive WQE if one was taken,
 *	with @total as byte count, @h's immediate, invalidation and solicited event
 *	(an R_Key that cannot be invalidated: PIB_RES_INVALIDATE)
 * @src_off: offset in the burst's payload
 * @len: bytes of payload to place
 * @off: offset in the message
 * @total: last: length of the message
 * @va0: start of the RDMA range, unchecked: it may go beyond the end of the address space
 * @va: address to which this part belongs
 * @dmalen: length of the RDMA range
 * @rkey: its key
 * @compare_add: atomics
 * @swap: atomics, ATOMIC_WRITE
 * @flush: as struct pib_hdrs.flush
 * @h: headers of the burst
 */
struct pib_act {
	u8 kind;
	bool first;
	bool last;
	bool take_recv;
	u8 flush;
	u32 src_off;
	u32 len;
	u32 off;
	u32 total;
	u32 dmalen;
	u32 rkey;
	u64 va0;
	u64 va;
	u64 compare_add;
	u64 swap;
	const struct pib_hdrs *h;
};

enum pib_res {
	PIB_RES_OK,
	PIB_RES_RNR,		/* no receive WQE: nothing of the act was done */
	/*
	 * message longer than the receive WQE: NAK invalid request, receive completes LOC_LEN_ERR
	 */
	PIB_RES_LEN,
	PIB_RES_INV_REQ,	/* NAK invalid request (misaligned atomic, ...) */
	PIB_RES_ACCESS,		/* NAK remote access error */
	/*
	 * NAK remote access error, for the key that a SEND with invalidate names: the receive
	 * completes REM_INV_REQ_ERR
	 */
	PIB_RES_INVALIDATE,
	PIB_RES_OP,		/* NAK remote operational error (the receive WQE's memory is bad) */
	/*
	 * env's own, never passed to pib_resp_result(): the act cannot be done now; env begins
	 * with the burst again later, from its first step
	 */
	PIB_RES_WAIT,
	/*
	 * reliable: the act cannot be done for long: RNR NAK, as if nothing had been done; the
	 * request comes again
	 */
	PIB_RES_LATER,
	PIB_RES_DROP,		/* UC: drop the message; env puts back its receive WQE, if taken */
};

enum pib_resp_drop {		/* reasons not to execute a request; counted by env */
	PIB_RESP_DROP_NONE,
	PIB_RESP_DROP_DUPLICATE,
	PIB_RESP_DROP_OUT_OF_SEQUENCE,
	PIB_RESP_DROP_BAD_OPCODE,
	PIB_RESP_DROP_BAD_LENGTH,
	PIB_RESP_DROP_RESOURCES,
	PIB_RESP_DROP_ERROR_STATE,
	PIB_RESP_DROP_QKEY,
	PIB_RESP_DROP_REASONS
};

/**
 * struct pib_rd_res - responder resource: a READ, an atomic or the like, being or been answered
 * @va: READ: start of the range
 * @orig: atomics: the value before
 * @rkey: READ: key of the range
 * @len: READ: bytes of the range
 * @srqn: XRC: SRQ that the request named
 * @psn: first PSN of the response
 * @npkts: PSNs of the response
 * @msn: for the response's AETH
 * @start: first packet of the answer under way; more than 0 when a duplicate asked for the rest
 * @off: next packet to send
 * @end: packet before which the answer ends
 * @op: enum pib_op of the request
 * @valid: entry is in use
 * @pending: there is something to send
 * @fresh: never yet answered to its end
 */
struct pib_rd_res {
	u64 va;
	u64 orig;
	u32 rkey;
	u32 len;
	u32 srqn;
	u32 psn;
	u32 npkts;
	u32 msn;
	u32 start;
	u32 off;
	u32 end;
	u8 op;
	bool valid;
	bool pending;
	bool fresh;
};

/**
 * struct pib_resp_stats - counted events of a responder
 * @duplicates: requests that came again
 * @out_of_sequence: requests behind a gap
 * @rnr_nak_sent: RNR NAKs for want of a receive work request
 * @deferrals: RNR NAKs for PIB_RES_LATER and pib_resp_answer_later()
 * @naks_sent: other NAKs
 * @acks_sent: ACKs
 * @drops: requests that were not executed, by enum pib_resp_drop
 */
struct pib_resp_stats {
	u64 duplicates;
	u64 out_of_sequence;
	u64 rnr_nak_sent;
	u64 deferrals;
	u64 naks_sent;
	u64 acks_sent;
	u64 drops[PIB_RESP_DROP_REASONS];
};

/**
 * struct pib_resp - responder
 * @cfg: configuration
 * @epsn: PSN expected next
 * @msn: messages completed
 * @credits: receive WQEs posted, told by env
 * @mtu_shift: log2 of the path MTU
 * @op: message in progress: PIB_OP_SEND or PIB_OP_WRITE
 * @in_msg: a message is in progress
 * @off: message in progress: bytes taken in
 * @va: WRITE in progress: start of the range
 * @rkey: WRITE in progress: key of the range
 * @dmalen: WRITE in progress: length of the range
 * @ack_due: an ACK is due
 * @ack_psn: PSN up to which it acknowledges
 * @nak_due: a NAK is due, after all answers
 * @nak_sent: no sequence error NAK until the expected packet comes (9.7.5.2.2)
 * @syndrome: of the NAK
 * @nak_psn: of the NAK
 * @dead: enum pib_res: a fatal NAK is due or sent, and nothing more is taken in
 * @final: @dead stays: the request that was refused may have used up a receive
 * @error: enum pib_res: the fatal NAK was sent; env moves the QP to ERR
 * @h: burst being taken in: headers
 * @b_npkts: burst being taken in: packets
 * @b_len: burst being taken in: bytes of payload
 * @b_skip: burst being taken in: packets that were received before
 * @b_do: burst being taken in: packets, after those skipped, that the present act covers
 * @phase: state of pib_resp_step(), see rc_resp.c
 * @res: ring of READ and atomic responses, kept for replay
 * @res_mask: its entries less one
 * @res_head: next to fill
 * @res_cur: none before this one has anything to send
 * @res_fresh: entries never yet answered
 * @res_last: READ response handed out last: entry
 * @res_last_psn: READ response handed out last: PSN
 * @res_last_again: READ response handed out last: it had been answered to its end before
 * @repeat: READ that the requester was told to send again; nothing new is taken in before that
 * @news: @stats other than acks_sent have changed; env clears it
 * @stats: counters
 *
 * Env reads @stats and @error.
 */
struct pib_resp {
	struct pib_resp_cfg cfg;
	u32 epsn;
	u32 msn;
	u32 credits;
	u32 mtu_shift;
	u8 op;
	bool in_msg;
	u32 off;
	u64 va;
	u32 rkey;
	u32 dmalen;
	bool ack_due;
	bool nak_due;
	bool nak_sent;
	bool news;
	bool final;
	u8 syndrome;
	u8 dead;
	u8 error;
	u32 ack_psn;
	u32 nak_psn;
	const struct pib_hdrs *h;
	u32 b_npkts;
	u32 b_len;
	u32 b_skip;
	u32 b_do;
	u8 phase;
	struct pib_rd_res *res;
	u32 res_mask;
	u32 res_head;
	u32 res_cur;
	u32 res_fresh;
	u32 res_last;
	u32 res_last_psn;
	bool res_last_again;
	const struct pib_rd_res *repeat;
	struct pib_resp_stats stats;
};

/*
 * Set up. @res: room for @nres entries, a power of two greater than any max_rd_atomic to come.
 * Context: under the queue pair's lock, or before anybody else knows the queue pair.
 */
void pib_resp_init(struct pib_resp *r, struct pib_rd_res *res, u32 nres);
/*
 * INIT -> RTR: set the configuration and expect @psn. Counters and credits stay. Context: under the
 * queue pair's lock.
 */
void pib_resp_start(struct pib_resp *r, const struct pib_resp_cfg *cfg, u32 psn);
/* Change the configuration, but for the MTU. Context: under the queue pair's lock. */
void pib_resp_reconfig(struct pib_resp *r, const struct pib_resp_cfg *cfg);
/*
 * Begin with a request burst of @npkts packets, @len bytes of payload (9.7.4, 9.8.2). @h stays
 * valid until the last step. Context: under the queue pair's lock.
 */
void pib_resp_begin(struct pib_resp *r, const struct pib_hdrs *h, u32 npkts, u32 len);
/*
 * Get the next task for the burst. Context: under the queue pair's lock.
 *
 * Return: false: the burst is done with.
 */
bool pib_resp_step(struct pib_resp *r, struct pib_act *act);
/*
 * Tell the result of @act, the last that pib_resp_step() has set. @orig: atomics: the value before.
 * Context: under the queue pair's lock.
 */
void pib_resp_result(struct pib_resp *r, const struct pib_act *act, enum pib_res res, u64 orig);
/* Return: true if pib_resp_next() has something to send. Context: under the queue pair's lock. */
static inline bool pib_resp_owes(const struct pib_resp *r)
{
	return r->ack_due || r->nak_due || r->res_cur != r->res_head;
}

/*
 * Return: true if the next is the answer to a READ, an atomic or the like, and no ACK or NAK.
 * Context: under the queue pair's lock.
 */
bool pib_resp_next_is_answer(const struct pib_resp *r);

/*
 * Get the next thing to send back. Acknowledgements are coalesced, order is kept (9.7.5.1).
 * Context: under the queue pair's lock.
 *
 * Return: false: there is nothing to send.
 */
bool pib_resp_next(struct pib_resp *r, struct pib_tx_req *tx);
/*
 * Note that the memory of the last READ response burst was refused. Context: under the queue pair's
 * lock.
 *
 * Return: true: env sends @tx in place of the burst.
 */
bool pib_resp_read_failed(struct pib_resp *r, struct pib_tx_req *tx);
/*
 * Drop the last READ response burst, since its memory cannot be had for long. Env sends @tx in its
 * place, which tells the requester to ask again (9.7.5.2.8). Context: under the queue pair's lock.
 *
 * Return: false: the requester has been refused, and will not ask.
 */
bool pib_resp_answer_later(struct pib_resp *r, struct pib_tx_req *tx);
/*
 * Tell the number of posted receive WQEs, for the credits in AETHs (9.7.7.2). Context: under the
 * queue pair's lock.
 */
static inline void pib_resp_set_credits(struct pib_resp *r, u32 posted)
{
	r->credits = posted;
}

/**
 * pib_ud_check() - check a datagram before it is taken in
 * @h: its headers; P_Key and addresses are env's to check
 * @len: bytes of payload; of several that differ in nothing else: of the longest
 * @qkey: the receiving QP's
 * @mtu: of the port
 *
 * Context: any.
 * Return: PIB_RESP_DROP_NONE, or the reason to drop the datagram (9.6.1.4.2, 9.8.3).
 */
enum pib_resp_drop pib_ud_check(const struct pib_hdrs *h, u32 len, u32 qkey, u32 mtu);

#endif
