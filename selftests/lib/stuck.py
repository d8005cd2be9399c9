#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""stuck.py DEVICE HOW: a queue pair that does not move. Prints "qp N" and sleeps.

reset, init, rtr, rts: it is in that state. rnr: the far end, of the same process, has no receive.
srq: it is in RTS, and its receives are those of an SRQ, in which there are none.
sqd: it is in that state. sqe: a datagram of it has failed. overflow: its completion queue is full of datagrams that were sent.
silence: nobody has the number of the far end; exhausted: the same, with short timeouts and one retry;
paged: the same, and what is sent is paged in on demand; gone: that memory has gone.
pkey, qkey: the far one is told, to which a queue pair of the same process sends with the port's second P_Key, or with another Q_Key.
"""
import ctypes
import mmap
import sys
import time

from pyverbs.addr import AH, AHAttr, GlobalRoute
from pyverbs.cq import CQ
from pyverbs.device import Context
from pyverbs.enums import (IBV_ACCESS_LOCAL_WRITE, IBV_ACCESS_ON_DEMAND, IBV_QP_STATE, IBV_QPS_SQD,
                           IBV_QPT_RC, IBV_QPT_UD, IBV_SEND_SIGNALED, IBV_WR_SEND)
from pyverbs.mr import MR
from pyverbs.pd import PD
from pyverbs.qp import QP, QPAttr, QPCap, QPInitAttr
from pyverbs.srq import SRQ, SrqAttr, SrqInitAttr
from pyverbs.wr import SGE, SendWR

IBV_MTU_1024 = 3
NOBODY = 0xABCDEF
QKEY = 7
LEVELS = {"reset": 0, "init": 1, "rtr": 2}
SENDS_NOTHING = ("reset", "init", "rtr", "rts", "srq", "sqd")


def connect(qp, lid, far_qpn, how, pkey_index=0):
    level = LEVELS.get(how, 3)
    attr = QPAttr(port_num=1)
    attr.pkey_index = pkey_index
    attr.qp_access_flags = IBV_ACCESS_LOCAL_WRITE
    attr.path_mtu = IBV_MTU_1024
    attr.dest_qp_num = far_qpn
    attr.ah_attr = AHAttr(dlid=lid, port_num=1, is_global=0, gr=GlobalRoute())
    attr.rq_psn = attr.sq_psn = 0x1234
    attr.max_rd_atomic = attr.max_dest_rd_atomic = 1
    attr.min_rnr_timer = 20  # 10.24 ms
    attr.timeout = 8 if how == "exhausted" else 20
    attr.retry_cnt = 1 if how == "exhausted" else 6
    attr.rnr_retry = 7
    for step in (qp.to_init, qp.to_rtr, qp.to_rts)[:level]:
        step(attr)


def gone(pd):
    """A region of a page that the process has no more."""
    libc = ctypes.CDLL(None)
    libc.mmap.restype = ctypes.c_void_p
    libc.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
    page = libc.mmap(None, ctypes.c_size_t(4096), mmap.PROT_READ | mmap.PROT_WRITE,
                     mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, -1, ctypes.c_long(0))
    mr = MR(pd, 4096, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_ON_DEMAND, address=page)
    libc.munmap(page, 4096)
    return mr, page


def told(qp):
    print(f"qp {qp.qp_num}", flush=True)
    time.sleep(600)


def datagram_ends(pd, cq, max_send_wr):
    """Two queue pairs of UD, in RTS."""
    init = QPInitAttr(qp_type=IBV_QPT_UD, scq=cq, rcq=cq, cap=QPCap(max_send_wr=max_send_wr, max_recv_wr=4))
    ends = QP(pd, init), QP(pd, init)
    attr = QPAttr(port_num=1)
    attr.qkey = QKEY
    for qp in ends:
        qp.to_init(attr)
        qp.to_rtr(attr)
        qp.to_rts(attr)
    return ends


def datagrams(pd, cq, lid, how):
    """Datagrams for a queue pair with another Q_Key; or one that fails, or as many as the completion queue has no room for."""
    count = 300 if how == "overflow" else 1
    near, far = datagram_ends(pd, cq, count)
    ah = AH(pd, attr=AHAttr(dlid=lid, port_num=1, is_global=0, gr=GlobalRoute()))
    mr = MR(pd, 64, IBV_ACCESS_LOCAL_WRITE)
    wr = SendWR(opcode=IBV_WR_SEND, send_flags=IBV_SEND_SIGNALED, num_sge=1, sg=[SGE(mr.buf, 64, mr.lkey ^ (0x5500 if how == "sqe" else 0))])
    wr.set_wr_ud(ah, far.qp_num, QKEY + 1)
    for _ in range(count):
        near.post_send(wr)
    told(far if how == "qkey" else near)


def main():
    device, how = sys.argv[1:]
    ctx = Context(name=device)
    pd = PD(ctx)
    cq = CQ(ctx, 16)
    if how in ("qkey", "sqe", "overflow"):
        datagrams(pd, cq, ctx.query_port(1).lid, how)
    srq = SRQ(pd, SrqInitAttr(SrqAttr(max_wr=4))) if how == "srq" else None
    init = QPInitAttr(qp_type=IBV_QPT_RC, scq=cq, rcq=cq, srq=srq, cap=QPCap(max_send_wr=4, max_recv_wr=4))
    near, far = QP(pd, init), QP(pd, init)
    lid = ctx.query_port(1).lid
    connect(near, lid, far.qp_num if how in ("rnr", "pkey") else NOBODY, how, int(how == "pkey"))
    if how in ("rnr", "pkey"):
        connect(far, lid, near.qp_num, how)
    if how == "sqd":
        near.modify(QPAttr(qp_state=IBV_QPS_SQD), IBV_QP_STATE)
    if how == "gone":
        mr, address = gone(pd)
    elif how not in SENDS_NOTHING:
        mr = MR(pd, 64, IBV_ACCESS_LOCAL_WRITE | (IBV_ACCESS_ON_DEMAND if how == "paged" else 0))
        address = mr.buf
    else:
        mr = None
    if mr:
        near.post_send(SendWR(opcode=IBV_WR_SEND, send_flags=IBV_SEND_SIGNALED, num_sge=1,
                              sg=[SGE(address, 64, mr.lkey)]))
    told(far if how == "pkey" else near)


main()
