// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* The bytes of a segment's header: docs/wire-format.md, "SEGMENT". */
#include "mad.h"
#include "segment.h"

void pib_segment_build(const struct pib_segment *s, u8 out[PIB_SEG_HDR_LEN])
{
	const struct pib_dg dg = {
		.version = PIB_DG_VERSION,
		.type = PIB_DG_SEGMENT,
		.flags = s->flags,
		.tag = s->tag,
		.link_id = s->link_id,
	};

	pib_dg_build(&dg, out);
	pib_put16(out + PIB_SEG_FRAME, s->frame);
	out[PIB_SEG_INDEX] = s->index;
	out[PIB_SEG_TOTAL] = s->total;
	pib_put16(out + PIB_SEG_SIZE, s->size);
	pib_put16(out + PIB_SEG_FIRST, s->first);
}

bool pib_segment_parse(struct pib_segment *s, const u8 *buf, u32 len)
{
	struct pib_dg dg;

	if (len <= PIB_SEG_HDR_LEN)
		return false;
	len -= PIB_SEG_HDR_LEN;
	pib_dg_parse(&dg, buf);
	s->flags = dg.flags;
	s->tag = dg.tag;
	s->link_id = dg.link_id;
	s->frame = pib_get16(buf + PIB_SEG_FRAME);
	s->index = buf[PIB_SEG_INDEX];
	s->total = buf[PIB_SEG_TOTAL];
	s->size = pib_get16(buf + PIB_SEG_SIZE);
	s->first = pib_get16(buf + PIB_SEG_FIRST);

	if (!s->total || s->total > PIB_SEG_MAX || s->index >= s->total ||
	    (u32)s->size * s->total > 0xFFFF)
		return false;
	if (s->total > 1 && s->size < PIB_SEG_MIN)
		return false;
	return s->index + 1 < s->total ? len == s->size : len <= s->size;
}
