# shellcheck shell=sh disable=SC2034 # read with `.`
# slurm.sh - a Slurm of four nodes on this machine, for tests; read with `.`.
#
#     slurm_start FOLDER   0: `srun` and its likes find it; 1: `slurm_why` says
#                          why there is none
#     slurm_end            ends what was started
#
# A munged, a slurmctld and four `slurmd -N` of this user (root), all of whose
# files are in FOLDER, at ports of an address that is this test's alone.
slurm_pids=
slurm_why=

# A process that goes on: `slurm_run NAME COMMAND...`, output in FOLDER/NAME.out.
slurm_run() {
    slurm_name=$1
    shift
    "$@" >"$slurm_folder/$slurm_name.out" 2>&1 </dev/null &
    slurm_pids="$! $slurm_pids"
}

# slurm_wait WHAT COMMAND...: until it succeeds, or for half a minute.
slurm_wait() {
    slurm_what=$1
    slurm_left=300
    shift
    until "$@" >"$slurm_folder/wait.out" 2>&1; do
        slurm_left=$((slurm_left - 1))
        if [ $slurm_left -eq 0 ]; then
            slurm_why="$slurm_what did not start: $(tail -n 2 \
                "$slurm_folder"/*.out "$slurm_folder"/*.log 2>/dev/null)"
            return 1
        fi
        sleep 0.1
    done
}

slurm_configure() {
    slurm_port=$((20000 + $$ % 8000))
    mkdir -p "$slurm_folder/state" "$slurm_folder/n1" "$slurm_folder/n2" \
        "$slurm_folder/n3" "$slurm_folder/n4"
    cat >"$slurm_folder/slurm.conf" <<CONF
ClusterName=test
SlurmctldHost=$(hostname -s)(127.0.0.1)
SlurmctldPort=$slurm_port
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket=$slurm_folder/munge.socket
CredType=cred/munge
MpiDefault=none
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
ReturnToService=2
StateSaveLocation=$slurm_folder/state
SlurmdSpoolDir=$slurm_folder/%n
TmpFS=$slurm_folder/%n
SlurmctldPidFile=$slurm_folder/slurmctld.pid
SlurmdPidFile=$slurm_folder/%n.pid
SlurmctldLogFile=$slurm_folder/slurmctld.log
SlurmdLogFile=$slurm_folder/%n.log
MailProg=/bin/true
JobCompType=jobcomp/none
AccountingStorageType=accounting_storage/none
KillWait=5
NodeName=n1 NodeHostname=$(hostname -s) NodeAddr=127.0.0.1 Port=$((slurm_port + 1)) CPUs=2
NodeName=n2 NodeHostname=$(hostname -s) NodeAddr=127.0.0.1 Port=$((slurm_port + 2)) CPUs=2
NodeName=n3 NodeHostname=$(hostname -s) NodeAddr=127.0.0.1 Port=$((slurm_port + 3)) CPUs=2
NodeName=n4 NodeHostname=$(hostname -s) NodeAddr=127.0.0.1 Port=$((slurm_port + 4)) CPUs=2
PartitionName=all Nodes=ALL Default=YES State=UP MaxTime=10
CONF
    # Control groups are this machine's and not this test's.
    echo "CgroupPlugin=cgroup/v1" >"$slurm_folder/cgroup.conf"
    dd if=/dev/urandom of="$slurm_folder/munge.key" bs=128 count=1 2>/dev/null
    chmod 600 "$slurm_folder/munge.key"
}

slurm_nodes_are_idle() {
    [ "$(sinfo -h -o %T -p all 2>/dev/null)" = idle ]
}

slurm_start() {
    slurm_folder=$1
    PATH=$PATH:/usr/sbin
    for slurm_program in munged slurmctld slurmd srun; do
        command -v $slurm_program >/dev/null && continue
        slurm_why="there is no $slurm_program"
        return 1
    done
    if [ "$(id -u)" -ne 0 ]; then
        slurm_why="only root may start a slurmd"
        return 1
    fi
    chmod 755 "$slurm_folder" # munged asks for this of the folder of its socket
    slurm_configure
    SLURM_CONF=$slurm_folder/slurm.conf
    export SLURM_CONF
    slurm_run munged munged --foreground --force \
        --key-file="$slurm_folder/munge.key" \
        --socket="$slurm_folder/munge.socket" \
        --pid-file="$slurm_folder/munged.pid" \
        --seed-file="$slurm_folder/munge.seed" \
        --log-file="$slurm_folder/munged.log"
    slurm_wait munged munge -n -S "$slurm_folder/munge.socket" || return 1
    slurm_run slurmctld slurmctld -D -f "$SLURM_CONF" -i
    for slurm_node in n1 n2 n3 n4; do
        slurm_run $slurm_node slurmd -D -f "$SLURM_CONF" -N $slurm_node
    done
    slurm_wait "four slurmd" slurm_nodes_are_idle
}

slurm_end() {
    for slurm_pid in $slurm_pids; do
        kill "$slurm_pid" 2>/dev/null
        wait "$slurm_pid" 2>/dev/null
    done
    slurm_pids=
}
