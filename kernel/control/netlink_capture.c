// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Control by generic netlink: captures. */
#include <linux/file.h>
#include <net/genetlink.h>
#include "core/net.h"
#include "control/capture.h"
#include "control/netlink.h"
#include "control/netlink_gen.h"
#include "control/netlink_dump.h"

#define BUFFER_DEFAULT	(16 << 20)

static int get_match(struct genl_info *info, const struct nlattr *nest,
		     struct pib_capture_cfg *cfg)
{
	struct pib_capture_match *m = &cfg->match[cfg->num_matches];
	struct nlattr *tb[PIB_CM_MASK + 1];
	int err;

	if (cfg->num_matches == PIB_CAPTURE_MATCHES) {
		NL_SET_ERR_MSG(info->extack, "the filter has more than 16 fields");
		return -E2BIG;
	}
	err = nla_parse_nested(tb, PIB_CM_MASK, nest, pib_capture_match_nl_policy, info->extack);
	if (err)
		return err;
	if (!tb[PIB_CM_FIELD] || nla_get_u8(tb[PIB_CM_FIELD]) >= __PIB_CAPTURE_FIELDS ||
	    !tb[PIB_CM_VALUE]) {
		NL_SET_ERR_MSG_ATTR(info->extack, nest,
				    "the filter lacks a known field or its value");
		return -EINVAL;
	}
	m->field = nla_get_u8(tb[PIB_CM_FIELD]);
	m->mask = pib_nl_u32(tb, PIB_CM_MASK, U32_MAX);
	m->value = nla_get_u32(tb[PIB_CM_VALUE]) & m->mask;
	cfg->num_matches++;
	return 0;
}

static int get_matches(struct genl_info *info, const struct nlattr *capture,
		       struct pib_capture_cfg *cfg)
{
	const struct nlattr *nla;
	int rem, err;

	nla_for_each_nested(nla, capture, rem) {
		if (nla_type(nla) != PIB_CA_MATCH)
			continue;
		err = get_match(info, nla, cfg);
		if (err)
			return err;
	}
	return 0;
}

static int get_capture(struct genl_info *info, struct pib_capture_req *req)
{
	struct nlattr *tb[PIB_CA_MATCH + 1];
	int err;

	if (!info->attrs[PIB_A_CAPTURE]) {
		NL_SET_ERR_MSG(info->extack, "the description of the capture is missing");
		return -EINVAL;
	}
	/* Attributes behind the filter are for answers, not for requests. */
	err = nla_parse_nested(tb, PIB_CA_MATCH, info->attrs[PIB_A_CAPTURE], pib_capture_nl_policy,
			       info->extack);
	if (err)
		return err;
	if (!tb[PIB_CA_NODE]) {
		NL_SET_ERR_MSG(info->extack, "the name of the HCA or switch is missing");
		return -EINVAL;
	}
	req->node = nla_data(tb[PIB_CA_NODE]);
	req->port = pib_nl_u32(tb, PIB_CA_PORT, 0);
	req->cfg.directions = pib_nl_u8(tb, PIB_CA_DIRECTION,
					PIB_CAPTURE_DIR_IN | PIB_CAPTURE_DIR_OUT);
	req->cfg.snap_len = pib_nl_u32(tb, PIB_CA_SNAP_LEN, U32_MAX);
	req->cfg.buffer = pib_nl_u32(tb, PIB_CA_BUFFER, BUFFER_DEFAULT);
	return get_matches(info, info->attrs[PIB_A_CAPTURE], &req->cfg);
}

/* This runs in the process that has sent the request, so the descriptor becomes that process's. */
int pib_nl_capture_new_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct pib_capture_req req = {};
	struct file *file;
	int fd, err;

	err = get_capture(info, &req);
	if (err)
		return err;
	fd = get_unused_fd_flags(O_CLOEXEC);
	if (fd < 0)
		return fd;
	file = pib_capture_open(pib_net(genl_info_net(info)), &req, info->extack);
	if (IS_ERR(file)) {
		err = PTR_ERR(file);
		goto err_open;
	}
	err = pib_nl_reply_u32(info, PIB_CMD_CAPTURE_NEW, PIB_A_CAPTURE, PIB_CA_FD, fd);
	if (err)
		goto err_answer;
	fd_install(fd, file);
	return 0;

err_answer:
	fput(file);
err_open:
	put_unused_fd(fd);
	return err;
}
