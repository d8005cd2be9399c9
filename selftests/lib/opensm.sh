# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# The end of OpenSM, for hosts.sh and topology.sh. Needs ktap.sh.

# sm_end [COMMAND...]: stop OpenSM, where COMMAND (h K) runs what it is given, and wait until it has ended. Its HCA may go then:
# of one that has gone before, OpenSM reads errors as fast as it can, and when it is stopped it may wait for itself for ever.
sm_end() {
	"$@" pkill -x opensm || :
	wait_for 20 "$@" sh -c '! pgrep -x opensm'
}
