// SPDX-License-Identifier: GPL-2.0
#include "daemon/privileges.h"

#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace pib::netd {

void drop_capabilities()
{
	if (::geteuid() == 0)
		return;
	__user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
	const __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = {};
	::prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
	::syscall(SYS_capset, &header, none);
}

} // namespace pib::netd
