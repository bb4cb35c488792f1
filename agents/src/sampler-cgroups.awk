# Control groups, for the sampler of processes: prints the counters of the groups that hold processes, under the heading of the group,
# each line after the name of its file. A group whose lines did not change since they were printed has only its heading; the awk that
# takes over after sixty lines prints all again. Limits, which people change, are read once a minute, since most of the cost is
# opening files. The root group, which is the whole host, is left out. Each awk describes once what
# the kernel says by number: a container, by a line that no kernel prints, its name, where a file of its engine has it; the disks, by
# the lines of /proc/partitions.
function find_mounts(    mounted, words, options, n, k) {
    while ((getline mounted < "/proc/mounts") > 0) {
        split(mounted, words, " ")
        if (words[3] == "cgroup2" && !("unified" in mount)) mount["unified"] = words[2]
        if (words[3] != "cgroup") continue
        n = split(words[4], options, ",")
        for (k = 1; k <= n; k++)
            if ((options[k] in files) && !(options[k] in mount)) mount[options[k]] = words[2]
    }
    close("/proc/mounts")
}
# Finds the groups of a process: the one of version 2, and those of the controllers of version 1. Returns the path of the first, or
# the longest path of the others. Empty: the root.
function find_groups(folder,    source, line, at, path, longest, own, names, n, k) {
    source = folder "/cgroup"
    longest = own = ""
    while ((getline line < source) > 0) {
        line = substr(line, index(line, ":") + 1)
        at = index(line, ":")
        path = substr(line, at + 1)
        if (at == 1) path = outer_path(path)
        if (path == "" || path == "/" || path ~ /^\/\.\.(\/|$)/ || path ~ / \(deleted\)$/ || length(path) > 1000) continue
        if (at == 1) {
            own = path
            add_group("unified", path)
        } else if (length(path) > length(longest)) longest = path
        n = split(substr(line, 1, at - 1), names, ",")
        for (k = 1; k <= n; k++) add_group(names[k], path)
    }
    close(source)
    return own == "" ? longest : own
}
# In a container with a namespace of its own for control groups, the kernel shows the other groups from its own: /../../x.service.
# Which one that is, is found by the number of this process.
function find_own_group(    line, words, command) {
    own_group = ""
    line = "/proc/1/cgroup"
    while ((getline command < line) > 0) if (command ~ /^0::\/\.\.(\/|$)/) own_group = "?"
    close(line)
    if (own_group == "" || !("unified" in mount)) return
    getline line < "/proc/self/stat"
    close("/proc/self/stat")
    split(line, words, " ")
    command = "find '" mount["unified"] "' -name cgroup.procs -exec grep -lx " words[1] " {} + 2>/dev/null"
    own_group = ""
    if ((command | getline line) > 0) own_group = substr(line, length(mount["unified"]) + 1, length(line) - length(mount["unified"]) - 13)
    close(command)
}
# Returns a path of version 2 as it is outside of the container. Empty: the root.
function outer_path(path,    outer) {
    if (own_group == "") return path
    if (path == "/") return own_group
    outer = own_group
    while (path ~ /^\/\.\.(\/|$)/) {
        path = substr(path, 4)
        sub(/\/[^\/]*$/, "", outer)
    }
    return outer path
}
# Several controllers may share a folder, as cpu and cpuacct do.
function add_group(controller, path,    group, names, n) {
    if (!(controller in mount)) return
    group = mount[controller] path
    if (!(group in files_of)) groups[++n_groups] = group
    if (!((group, controller) in is_added)) {
        is_added[group, controller] = 1
        files_of[group] = files_of[group] files[controller] " "
    } else if (group in printed) return
    # It may have been removed, and is there again.
    for (n = split(files[controller], names, " "); n > 0; n--) {
        delete missing[group "/" names[n]]
        delete limits[group "/" names[n]]
    }
}
function is_wanted(name, line) {
    if (name == "cpu.stat") return line ~ /^(usage_usec|user_usec|system_usec|nr_periods|nr_throttled) /
    if (name == "memory.stat") return line ~ /^(anon|file|shmem|total_rss|total_cache|total_shmem) /
    if (name == "memory.events") return line ~ /^(max|oom_kill) /
    if (name == "memory.oom_control") return line ~ /^oom_kill /
    if (name ~ /^blkio/) return line ~ / (Read|Write) /
    return 1
}
# Returns the lines of a file of a group; one that the group does not have is not opened again.
function read_file(group, name,    source, line, found, is_there) {
    source = group "/" name
    if (source in missing) return ""
    if ((source in limits) && n_ticks % limit_ticks) return limits[source]
    found = ""
    while ((is_there = (getline line < source)) > 0) if (is_wanted(name, line)) found = found name " " line "\n"
    if (is_there < 0) {
        missing[source] = 1
        return ""
    }
    close(source)
    if (name in is_limit) limits[source] = found
    return found
}
function show_group(group,    names, n, k, found, name) {
    n = split(files_of[group], names, " ")
    found = read_file(group, names[1])
    if (found == "") {
        delete printed[group]
        return
    }
    for (k = 2; k <= n; k++) found = found read_file(group, names[k])
    text = text "==> " group " <==\n"
    if (!(group in printed) && (name = container_name(group)) != "") text = text "name " name "\n"
    if (!(group in printed) || found != printed[group]) text = text found
    printed[group] = found
}
# Returns the name of the container of a group: from the link that Kubernetes makes to its log, <pod>_<namespace>_<container>-<id>.log,
# from the settings of docker or the list of podman. Empty: none of them has it, or the group is not of a container.
function container_name(group,    id, path, line, at, name) {
    id = group
    sub(/\.scope$/, "", id)
    if (length(id) < 64 || substr(id, length(id) - 63) ~ /[^0-9a-f]/) return ""
    id = substr(id, length(id) - 63)
    if (id in container_names) return container_names[id]
    name = ""
    path = "ls -d /var/log/containers/*-" id ".log 2>/dev/null"
    if ((path | getline line) > 0) name = substr(line, 21, length(line) - 89)
    close(path)
    if (name == "") {
        path = "/var/lib/docker/containers/" id "/config.v2.json"
        if ((getline line < path) > 0 && match(line, /"Name":"\/[A-Za-z0-9_.-]+"/)) name = substr(line, RSTART + 9, RLENGTH - 10)
        close(path)
    }
    if (name == "") {
        path = "/var/lib/containers/storage/overlay-containers/containers.json"
        while (name == "" && (getline line < path) > 0) {
            at = index(line, "\"id\":\"" id "\"")
            line = substr(line, at + 1)
            if (at && match(line, /"names":\["[A-Za-z0-9_.-]+"/)) name = substr(line, RSTART + 10, RLENGTH - 11)
        }
        close(path)
    }
    container_names[id] = name
    return name
}
# Disks have names only outside of control groups.
function show_disks() {
    if (("unified" in mount) || ("blkio" in mount)) show("/proc/partitions")
}
function find_controllers(    names, k) {
    files["unified"] = "cpu.stat cpu.max memory.current memory.max memory.events memory.stat io.stat pids.current pids.max" \
        " cpu.pressure memory.pressure io.pressure"
    files["cpuacct"] = "cpuacct.usage cpuacct.stat"
    files["cpu"] = "cpu.stat cpu.cfs_quota_us cpu.cfs_period_us"
    files["memory"] = "memory.usage_in_bytes memory.limit_in_bytes memory.failcnt memory.oom_control memory.stat"
    files["blkio"] = "blkio.throttle.io_service_bytes blkio.throttle.io_serviced"
    files["pids"] = "pids.current pids.max"
    split("cpu.max memory.max pids.max cpu.cfs_quota_us cpu.cfs_period_us memory.limit_in_bytes", names, " ")
    for (k in names) is_limit[names[k]] = 1
    limit_ticks = every < 60 ? int(60 / every) : 1
    find_mounts()
    find_own_group()
}
