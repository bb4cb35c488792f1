# Facts about a Linux host, from /proc, /sys and /etc.

print_linux_facts() {
    if [ -r /etc/os-release ]; then
        while IFS='=' read -r pl_name pl_value; do
            [ "$pl_name" != PRETTY_NAME ] || { pl_value=${pl_value#\"} && print_fact system "${pl_value%\"}"; }
        done </etc/os-release
    fi
    print_linux_machine
    print_linux_cpus
    print_linux_memory
    while read -r pl_name pl_value _a; do
        [ "$pl_name" != btime ] || print_fact boot_time "$pl_value"
    done </proc/stat
    # Setting the clock moves the time of the boot, but not this.
    print_file_fact boot_id /proc/sys/kernel/random/boot_id
    print_kernel_parameters
    print_limits
    print_linux_programs
    print_linux_devices
    # File systems on disks and on other hosts, not the kernel's own. The kernel writes blanks in octal.
    while read -r pl_device pl_point pl_type _a; do
        case $pl_device:$pl_type in
        /dev/loop*) ;;
        /dev/*:* | *:nfs* | *:cifs | *:zfs | *:ceph) print_fact "mount $pl_point" "$pl_type $pl_device" ;;
        esac
    done </proc/mounts
}

# Prints the maker and model of the machine, and the container.
print_linux_machine() {
    read_first /sys/class/dmi/id/sys_vendor
    pl_value=$first_line
    read_first /sys/class/dmi/id/product_name
    pl_value="$pl_value $first_line"
    print_fact hardware "${pl_value# }"
    if read_first /run/systemd/container; then
        print_fact container "$first_line"
    elif [ -e /.dockerenv ]; then
        print_fact container docker
    elif [ -e /run/.containerenv ]; then
        print_fact container podman
    fi
}

print_linux_cpus() {
    pl_cpus=0 pl_models="$NL" pl_mhz='' pl_flags=''
    while IFS=: read -r pl_name pl_value; do
        pl_value=${pl_value# }
        case $pl_name in
        processor*) pl_cpus=$((pl_cpus + 1)) ;;
        'model name'* | 'cpu model'* | cpu"$TAB"*)
            case $pl_models in
            *"$NL$pl_value$NL"*) ;;
            *) pl_models="$pl_models$pl_value$NL" ;;
            esac
            ;;
        'cpu MHz'*) pl_mhz=${pl_mhz:-${pl_value%%.*}} ;;
        flags*) pl_flags=${pl_flags:-" $pl_value "} ;;
        esac
    done </proc/cpuinfo
    [ "$pl_cpus" -eq 0 ] || print_fact cpus "$pl_cpus"
    while IFS= read -r pl_value; do
        print_fact cpu_model "$pl_value"
    done <<END
$pl_models
END
    # The current speed is not a fact where the frequency scales, or where the processor measures it.
    case $pl_flags in
    *' aperfmperf '*) pl_mhz='' ;;
    esac
    pl_cpu=/sys/devices/system/cpu
    if read_first $pl_cpu/cpu0/cpufreq/cpuinfo_max_freq && is_count "$first_line"; then pl_mhz=$((first_line / 1000)); fi
    print_fact cpu_mhz "$pl_mhz"
    print_distinct cpu_governor 1 $pl_cpu/cpufreq/policy*/scaling_governor
    print_distinct cpu_min_mhz 1000 $pl_cpu/cpufreq/policy*/scaling_min_freq
    print_distinct cpu_max_mhz 1000 $pl_cpu/cpufreq/policy*/scaling_max_freq
    if read_first $pl_cpu/intel_pstate/no_turbo; then
        first_line=$((first_line == 0))
    else
        read_first $pl_cpu/cpufreq/boost
    fi
    case $first_line in
    0) print_fact cpu_boost off ;;
    1) print_fact cpu_boost on ;;
    esac
    read_first $pl_cpu/smt/control
    case $first_line in
    on | off | forceoff) print_fact smt "$first_line" ;;
    esac
    print_file_fact numa_nodes /sys/devices/system/node/online
    print_file_fact clock_source /sys/devices/system/clocksource/clocksource0/current_clocksource
    if read_first /sys/hypervisor/type; then
        print_fact virtual_machine "$first_line"
    else
        case $pl_flags in
        *' hypervisor '*) print_fact virtual_machine yes ;;
        esac
    fi
}

# Prints fact NAME once for each distinct first line of the files, numbers divided by DIVISOR.
print_distinct() {
    pd_name=$1 pd_divisor=$2 pd_seen=$NL
    shift 2
    for pd_file in "$@"; do
        read_first "$pd_file" || continue
        [ "$pd_divisor" -eq 1 ] || { is_count "$first_line" && first_line=$((first_line / pd_divisor)); } || continue
        case $pd_seen in
        *"$NL$first_line$NL"*) continue ;;
        esac
        pd_seen="$pd_seen$first_line$NL"
        print_fact "$pd_name" "$first_line"
    done
}

# Prints fact NAME with the choice that FILE has in brackets: `always [madvise] never`.
print_choice() {
    read_first "$2" || return 0
    first_line=${first_line#*\[}
    print_fact "$1" "${first_line%%\]*}"
}

print_linux_memory() {
    pl_pages=0
    while read -r pl_name pl_value _a; do
        case $pl_name in
        MemTotal:) print_fact memory_kb "$pl_value" ;;
        SwapTotal:) print_fact swap_kb "$pl_value" ;;
        HugePages_Total:) pl_pages=$pl_value ;;
        Hugepagesize:) [ "$pl_pages" = 0 ] || print_fact huge_pages_kb $((pl_pages * pl_value)) ;;
        esac
    done </proc/meminfo
    print_choice transparent_huge_pages /sys/kernel/mm/transparent_hugepage/enabled
}

# Prints the kernel parameters that affect performance. Others may hold secrets and are not printed.
print_kernel_parameters() {
    read_first /proc/cmdline || return 0
    # What follows -- is for init.
    pk_rest="${first_line%% -- *} " pk_found=''
    while [ -n "$pk_rest" ]; do
        pk_word=${pk_rest%% *}
        pk_rest=${pk_rest#* }
        case ${pk_word%%=*} in
        mitigations | *spectre_v[12]* | pti | nopti | kpti | mds | tsx | tsx_async_abort | l1tf | retbleed | \
            isolcpus | nohz | nohz_full | rcu_nocbs | irqaffinity | skew_tick | threadirqs | preempt | \
            maxcpus | nr_cpus | nosmt | mem | numa | numa_balancing | idle | \
            intel_pstate | amd_pstate | cpufreq.* | intel_idle.* | processor.max_cstate | pcie_aspm | \
            hugepages | hugepagesz | default_hugepagesz | transparent_hugepage | iommu | intel_iommu | amd_iommu | \
            clocksource | tsc | elevator | audit | nmi_watchdog | nowatchdog | psi | cgroup_disable | swapaccount)
            pk_found="$pk_found $pk_word"
            ;;
        esac
    done
    print_fact kernel_parameters "${pk_found# }"
}

# Prints the container's limits. Outside a container these files do not exist, or hold no limit.
print_limits() {
    pl_quota='' pl_period='' pl_limit=''
    if [ -r /sys/fs/cgroup/cgroup.controllers ]; then
        if read_first /sys/fs/cgroup/cpu.max; then
            pl_quota=${first_line%% *} pl_period=${first_line#* }
        fi
        read_first /sys/fs/cgroup/memory.max
    else
        read_first /sys/fs/cgroup/cpu/cpu.cfs_quota_us
        pl_quota=$first_line
        read_first /sys/fs/cgroup/cpu/cpu.cfs_period_us
        pl_period=$first_line
        read_first /sys/fs/cgroup/memory/memory.limit_in_bytes
        # The kernel's number for no limit has 19 digits.
        [ ${#first_line} -lt 19 ] || first_line=''
    fi
    pl_limit=$first_line
    if is_count "$pl_quota" && is_count "$pl_period" && [ "$pl_period" -gt 0 ]; then
        pl_quota=$((pl_quota * 100 / pl_period + 100))
        # Two digits after the point; the 100 above keeps the leading zeros.
        pl_part=${pl_quota#"${pl_quota%??}"}
        print_fact cpu_limit "$((${pl_quota%??} - 1)).$pl_part"
    fi
    ! is_count "$pl_limit" || print_fact memory_limit_kb $((pl_limit / 1024))
}

# Prints size and scheduler of each disk, and state, speed and MTU of each network card, real or virtual: those that have a device.
print_linux_devices() {
    for pl_device in /sys/block/*; do
        [ -e "$pl_device/device" ] || continue
        if read_first "$pl_device/size" && is_count "$first_line" && [ "$first_line" -gt 0 ]; then
            print_fact "disk_kb ${pl_device##*/}" $((first_line / 2))
            print_choice "io_scheduler ${pl_device##*/}" "$pl_device/queue/scheduler"
        fi
    done
    for pl_device in /sys/class/net/*; do
        [ -e "$pl_device/device" ] || continue
        read_first "$pl_device/operstate" || continue
        pl_value=$first_line
        if read_first "$pl_device/speed" && is_count "$first_line"; then pl_value="$pl_value, $first_line Mbit/s"; fi
        ! read_first "$pl_device/mtu" || pl_value="$pl_value, MTU $first_line"
        print_fact "interface ${pl_device##*/}" "$pl_value"
    done
}

# Prints the flags of JVMs, and what LD_PRELOAD loads, for processes that have run for ten minutes: younger ones would change the
# facts all day. Identical lines are printed once.
print_linux_programs() {
    { IFS='. ' read -r pl_up _a </proc/uptime; } 2>/dev/null || return 0
    pl_end=') '
    pl_preloads=$(grep -l LD_PRELOAD= /proc/[0-9]*/environ 2>/dev/null)
    for pl_dir in /proc/[0-9]*; do
        read_first "$pl_dir/comm" || continue
        pl_name=$first_line
        case $pl_name:$NL$pl_preloads$NL in
        java:* | *"$NL$pl_dir/environ$NL"*) ;;
        *) continue ;;
        esac
        read_first "$pl_dir/stat" || continue
        # The 22nd word is the start after the boot, in hundredths; the second may have blanks.
        # shellcheck disable=SC2086  # words
        set -- ${first_line##*"$pl_end"}
        [ "$pl_up" -ge $((${20:-0} / 100 + 600)) ] || continue
        [ "$pl_name" != java ] || tr '\000' '\012' <"$pl_dir/cmdline" 2>/dev/null | { read -r _a && print_jvm; }
        tr '\000' '\012' <"$pl_dir/environ" 2>/dev/null | while IFS= read -r pl_value; do
            case $pl_value in
            LD_PRELOAD=?*) print_fact "ld_preload $pl_name" "${pl_value#*=}" ;;
            esac
        done
    done | sort -u
}
