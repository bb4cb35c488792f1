/* The wall clock, set off by what a shared file says: for benchmarks that live through a year. Preloaded (LD_PRELOAD).
 *
 * The file named by NORMSTAT_FAKED_CLOCK holds one int64: nanoseconds to add. It is mapped, so that all processes see a change at
 * once. The monotonic clock, by which programs wait, is the real one.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static const volatile int64_t zero;
static const volatile int64_t *offset_ns = &zero;

__attribute__((constructor)) static void map_offset(void)
{
    const char *path = getenv("NORMSTAT_FAKED_CLOCK");
    int fd = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    if (fd < 0)
        return;
    void *mapped = mmap(NULL, sizeof(int64_t), PROT_READ, MAP_SHARED, fd, 0);
    close(fd);
    if (mapped != MAP_FAILED)
        offset_ns = mapped;
}

int clock_gettime(clockid_t clock, struct timespec *at)
{
    int status = (int)syscall(SYS_clock_gettime, clock, at);
    if (status == 0 && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)) {
        int64_t ns = at->tv_sec * 1000000000LL + at->tv_nsec + *offset_ns;
        at->tv_sec = ns / 1000000000LL;
        at->tv_nsec = ns % 1000000000LL;
    }
    return status;
}

int gettimeofday(struct timeval *restrict at, void *restrict zone)
{
    (void)zone;
    struct timespec now;
    int status = clock_gettime(CLOCK_REALTIME, &now);
    at->tv_sec = now.tv_sec;
    at->tv_usec = now.tv_nsec / 1000;
    return status;
}

time_t time(time_t *at)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (at)
        *at = now.tv_sec;
    return now.tv_sec;
}
