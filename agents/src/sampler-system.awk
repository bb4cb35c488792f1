# The counters of the whole system: at each line of standard input prints the files of the sections, without lines that the server
# does not read. The words are the seconds between two lines and the sections. Patterns are literals, since some awks compile others
# again for each line.
function is_wanted(name, line) {
    if (name == "/proc/stat") {
        if (line ~ /^cpu/) return "cpu" in has
        return ("kernel" in has) && line ~ /^(intr|ctxt|softirq|processes|procs_)/
    }
    if (name == "/proc/meminfo")
        return line ~ /^(Mem|Buffers|Cached|Swap|Active:|Inactive:|AnonPages|AnonHuge|Mapped|Mlocked|Shmem:|Slab|Commit)/ || \
            line ~ /^(SRecl|SUnrecl|KReclaim|KernelStack|PageTables|Dirty|Writeback:|HugePages_|Hugepagesize)/
    if (name == "/proc/vmstat")
        return line ~ /^(pgpg|pswp|pgfault|pgmajfault|pgfree|pgrefill|pgscan_[kd]|pgsteal_[kd]|allocstall|oom_kill)/ || \
            line ~ /^(compact_[sf]|thp_fault|thp_coll|thp_split_page |workingset_refault|numa_miss|drop_page)/
    # Leave out disks that were never used.
    if (name == "/proc/diskstats") return line !~ / 0 0 0 0 0 0 0 0 0 0 0/
    if (name == "/proc/net/snmp") return line ~ /^(Ip|Tcp|Udp):/
    if (name == "/proc/net/netstat") return line ~ /^TcpExt:/
    return 1
}
function show(name,    line, n) {
    n = 0
    while ((getline line < name) > 0) {
        if (!is_wanted(name, line)) continue
        # The total is followed by a number for each interrupt.
        if (line ~ /^(intr|softirq) /) {
            split(line, words, " ")
            line = words[1] " " words[2]
        }
        if (n++ == 0) text = text "==> " name " <==\n"
        text = text line "\n"
    }
    close(name)
}
BEGIN {
    every = ARGV[1]
    for (i = 2; i < ARGC; i++) has[ARGV[i]] = 1
    ARGC = 1
    slow = every < 5 ? int(5 / every) : 1
    ORS = ""
    for (n_ticks = 0; (getline tick) > 0; n_ticks++) {
        if (tick !~ /^[0-9]/) {
            srand()
            tick = srand()
        }
        text = tick "\n"
        show("/proc/uptime")
        if (("cpu" in has) || ("kernel" in has)) show("/proc/stat")
        if ("kernel" in has) show("/proc/loadavg")
        if ("memory" in has) {
            show("/proc/meminfo")
            show("/proc/vmstat")
        }
        if ("disk" in has) show("/proc/diskstats")
        if ("net" in has) show("/proc/net/dev")
        if (("tcp" in has) && n_ticks % slow == 0) {
            show("/proc/net/snmp")
            show("/proc/net/netstat")
            show("/proc/net/sockstat")
        }
        if ("pressure" in has) {
            show("/proc/pressure/cpu")
            show("/proc/pressure/io")
            show("/proc/pressure/memory")
        }
        print text
        fflush()
    }
}
