/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The reason why a verb was refused. An error number says little, so the place that refuses also
 * says it in words, to the log, if somebody has asked for that: docs/debugging.md has how.
 */
#ifndef PIB_CORE_REFUSE_H
#define PIB_CORE_REFUSE_H

#include <rdma/ib_verbs.h>

/*
 * Say by dynamic debug why a verb is refused. @fmt begins with the object, as in "qp %u: ", or with
 * the verb where there is no object yet. The macro's value is @err. Any context; not for the data
 * path.
 */
#define pib_refuse(ibdev, err, fmt, ...)			\
({								\
	ibdev_dbg(ibdev, fmt "\n", ##__VA_ARGS__);		\
	(err);							\
})

#endif
