/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The common part of answers to gets; the gets themselves are declared in netlink_gen.h.
 * A dump goes by the numbers that objects get when they are made, which only grow. So a dump
 * neither repeats nor skips an object when others disappear between its parts. A node whose ports
 * do not fit into one message is continued in the next ones.
 *
 * Everybody may ask, without end and from as many processes as there are. One get at a time is
 * answered, so that changes wait for few messages and not for all processes that ask. A process
 * that waits for its turn can be killed. A single message is handed over after the mutexes are
 * released. The configuration mutex is not taken here.
 */
#ifndef PIB_CONTROL_NETLINK_DUMP_H
#define PIB_CONTROL_NETLINK_DUMP_H

#include <linux/types.h>
#include <net/netlink.h>

struct genl_family;
struct genl_info;
struct net;
struct netlink_callback;
struct pib_addr;
struct pib_bearer;
struct pib_net;
struct sk_buff;

extern struct genl_family pib_genl_family;

/**
 * struct pib_nl_answer - an answer, and where it goes
 * @skb: the message
 * @portid: netlink port of the requester
 * @seq: sequence number of the request
 * @flags: NLM_F_MULTI in dumps
 * @cb: dump or NULL
 * @cmd: enum pib_cmd
 */
struct pib_nl_answer {
	struct sk_buff *skb;
	u32 portid;
	u32 seq;
	int flags;
	struct netlink_callback *cb;
	u8 cmd;
};

/**
 * struct pib_nl_cursor - position of a dump; lives in netlink_callback.args
 * @phase: list that is being dumped
 * @id: number of the last object that is finished
 * @begun: number of an object that is not finished, 0: none
 * @port: next port of @begun
 */
struct pib_nl_cursor {
	long phase;
	long id;
	long begun;
	long port;
};

/* Put the name of a netdev, if it exists. Context: any. Return: 0; -EMSGSIZE. */
int pib_nl_put_netdev(struct sk_buff *skb, int attr, struct net *net, int ifindex);
/* Put an address. Context: any. Return: 0; -EMSGSIZE. */
int pib_nl_put_endpoint(struct sk_buff *skb, int attr, const struct pib_addr *a);
/* Put a NodeDescription, which has 64 bytes. Context: any. Return: 0; -EMSGSIZE. */
int pib_nl_put_desc(struct sk_buff *skb, int attr, const char *desc);
/* Put what names a bearer. Context: view_lock held. Return: 0; -EMSGSIZE. */
int pib_nl_put_bearer(struct sk_buff *skb, const struct pib_bearer *bearer);
/*
 * Put the header of a message and the module's version. Context: any.
 *
 * Return: the header; NULL: no room.
 */
void *pib_nl_answer_begin(struct pib_nl_answer *a);
/*
 * End the message that begins with @hdr, or cancel it if it is not @complete. Context: any.
 *
 * Return: 0; -EMSGSIZE: it was not complete.
 */
int pib_nl_answer_end(struct pib_nl_answer *a, void *hdr, bool complete);
/*
 * Answer a request with the number @value, the attribute @attr in the attribute @nest.
 *
 * Context: process.
 * Return: 0 or -errno.
 */
int pib_nl_reply_u32(struct genl_info *info, u8 cmd, int nest, int attr, u32 value);

/*
 * Fill in @a for a dump. Context: any.
 *
 * Return: 0; -EINVAL with the reason in the extack: the request has attributes.
 */
int pib_nl_dump_prepare(struct sk_buff *skb, struct netlink_callback *cb, struct pib_nl_answer *a,
			u8 cmd);
/*
 * Begin a part of a dump: fill in @a, and take the namespace's view lock (pib_net_view()).
 *
 * Context: process; sleeps, and can be killed then.
 * Return: the namespace, for pib_nl_dump_end(); ERR_PTR().
 */
struct pib_net *pib_nl_dump_begin(struct sk_buff *skb, struct netlink_callback *cb,
				  struct pib_nl_answer *a, u8 cmd);
/*
 * End a part of a dump, and release the view lock. A full message is no error as long as it holds
 * something. Context: process.
 *
 * Return: as dumpit.
 */
int pib_nl_dump_end(struct pib_net *pn, struct sk_buff *skb, int err);

#endif
