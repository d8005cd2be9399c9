/* SPDX-License-Identifier: GPL-2.0 */
/* Each of these adds the cases of one subject; see the file of that name. */
#pragma once

#include "harness.h"

namespace ops {

void add_messages(Suite &suite);
void add_rdma(Suite &suite);
void add_atomics(Suite &suite);
void add_windows(Suite &suite);
void add_local_errors(Suite &suite);
void add_remote_errors(Suite &suite);
void add_retries(Suite &suite);
void add_states(Suite &suite);
void add_completions(Suite &suite);
void add_shared_queues(Suite &suite);
void add_xrc(Suite &suite);
void add_datagrams(Suite &suite);
void add_multicast(Suite &suite);
void add_memory(Suite &suite);
void add_isolation(Suite &suite);
void add_turns(Suite &suite);
void add_flapping(Suite &suite);
void add_killed(Suite &suite);
void add_paging(Suite &suite);
void add_paging_faults(Suite &suite);
void add_dmabuf(Suite &suite);
void add_limits(Suite &suite);
void add_shares(Suite &suite);
void add_migration(Suite &suite);
void add_modify(Suite &suite);
void add_interface(Suite &suite);
void add_forged(Suite &suite);

} // namespace ops
