/* Calls of the system that fail as a server or a disk makes them fail.
 *
 * Preloaded, this lets the call FAIL_CALL fail with the number FAIL_ERRNO, for open files whose path
 * has FAIL_PATH in it; with FAIL_AT only the call of that number, with
 * FAIL_FROM all from that number on. A file is closed all the same.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <linux/fs.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

#define REAL(name, type) ((type)dlsym(RTLD_NEXT, name))

static int count;

static int fails_at(const char *name, const char *path)
{
    const char *call = getenv("FAIL_CALL");
    if (!call || strcmp(call, name) || !strstr(path, getenv("FAIL_PATH")))
        return 0;
    const char *at = getenv("FAIL_AT"), *from = getenv("FAIL_FROM");
    count++;
    if ((at && count != atoi(at)) || (from && count < atoi(from)))
        return 0;
    errno = atoi(getenv("FAIL_ERRNO"));
    return 1;
}

static int fails(const char *name, int file)
{
    char link[64], path[4096];
    if (!getenv("FAIL_CALL"))
        return 0;
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (length < 0)
        return 0;
    path[length] = 0;
    return fails_at(name, path);
}

int linkat(int from, const char *old, int to, const char *new, int flags)
{
    if (fails_at("linkat", old))
        return -1;
    return REAL("linkat", int (*)(int, const char *, int, const char *, int))(
        from, old, to, new, flags);
}

/* With CLONES, every file system has clones: the bytes are copied. */
int ioctl(int file, unsigned long request, ...)
{
    va_list rest;
    va_start(rest, request);
    void *argument = va_arg(rest, void *);
    va_end(rest);
    if (request != FICLONE || !getenv("CLONES"))
        return REAL("ioctl", int (*)(int, unsigned long, void *))(file, request, argument);
    if (fails("clone", file))
        return -1;
    char bytes[4096];
    off_t at = 0;
    for (ssize_t length; (length = pread((int)(long)argument, bytes, sizeof bytes, at)) > 0;) {
        if (write(file, bytes, length) != length)
            return -1;
        at += length;
    }
    return 0;
}

ssize_t pread(int file, void *bytes, size_t length, off_t offset)
{
    if (fails("pread", file))
        return -1;
    return REAL("pread", ssize_t (*)(int, void *, size_t, off_t))(file, bytes, length, offset);
}

ssize_t pread64(int file, void *bytes, size_t length, off64_t offset)
{
    if (fails("pread", file))
        return -1;
    return REAL("pread64", ssize_t (*)(int, void *, size_t, off64_t))(file, bytes, length, offset);
}

ssize_t write(int file, const void *bytes, size_t length)
{
    if (fails("write", file))
        return -1;
    return REAL("write", ssize_t (*)(int, const void *, size_t))(file, bytes, length);
}

ssize_t pwrite64(int file, const void *bytes, size_t length, off64_t offset)
{
    if (fails("pwrite", file))
        return -1;
    return REAL("pwrite64", ssize_t (*)(int, const void *, size_t, off64_t))(
        file, bytes, length, offset);
}

int fsync(int file)
{
    return fails("fsync", file) ? -1 : REAL("fsync", int (*)(int))(file);
}

int close(int file)
{
    int is_bad = fails("close", file), number = errno;
    int done = REAL("close", int (*)(int))(file);
    if (!is_bad)
        return done;
    errno = number;
    return -1;
}
