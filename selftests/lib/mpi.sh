# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# Open MPI between the hosts of hosts.sh, without ssh. To be sourced after hosts.sh.

# mpi_agent: how the launchers start a program on a host: agent [OPTION]... HOST COMMAND...
mpi_agent() {
	cat >/tmp/agent <<-'END'
	#!/bin/sh
	while [ "${1#-}" != "$1" ]; do shift; done
	host=$1
	shift
	exec on "$host" sh -c "ulimit -l unlimited; $*"
	END
	chmod +x /tmp/agent
	mpi_there /tmp/agent
}

# mpi_there PROGRAM: host 2 has it, too, if there is one
mpi_there() { [ "$HOSTS" = 1 ] || h 2 sh -c "cat >$1; chmod +x $1" <"$1"; }

# mpi_hosts RANKS: where they run, on each host as many
mpi_hosts() { if [ "$HOSTS" = 1 ]; then echo "host1:$1"; else echo "host1:$(($1 / 2)),host2:$(($1 / 2))"; fi; }

# openmpi_run SECONDS RANKS OPTION... [-- ARGUMENT]: ended after so long, times PIB_SLOW
openmpi_run() {
	timeout $(($1 * ${PIB_SLOW:-1})) mpirun.openmpi --allow-run-as-root --oversubscribe --map-by node \
		--host "$(mpi_hosts "$2")" -np "$2" --leave-session-attached --prtemca plm_ssh_agent /tmp/agent "${@:3}"
}
