/* A disk that fails: the calls that change files below a folder are counted, and from the chosen one on they fail.

   Built by attacks/faults.py and put before the C library with LD_PRELOAD; `fault_arm` is called through ctypes. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

static char folder[4096];
static long calls, first, how_many;
static int error;

void fault_arm(const char *where, long at, long count, int number) {
    snprintf(folder, sizeof folder, "%s", where);
    calls = 0, first = at, how_many = count, error = number;
}
long fault_calls(void) { return calls; }

static int fails(const char *path) {
    if (!folder[0] || !path || strncmp(path, folder, strlen(folder))) return 0;
    calls++;
    if (!first || calls < first || calls >= first + how_many) return 0;
    errno = error;
    return 1;
}
static int fails_at(int file) {
    char link[64], path[4096];
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (length < 0) return 0;
    path[length] = 0;
    return fails(path);
}
#define REAL(type, name, ...) type (*real)(__VA_ARGS__) = (type (*)(__VA_ARGS__))dlsym(RTLD_NEXT, name)

ssize_t write(int file, const void *data, size_t count) {
    REAL(ssize_t, "write", int, const void *, size_t);
    return fails_at(file) ? -1 : real(file, data, count);
}
ssize_t pwrite64(int file, const void *data, size_t count, off64_t at) {
    REAL(ssize_t, "pwrite64", int, const void *, size_t, off64_t);
    return fails_at(file) ? -1 : real(file, data, count, at);
}
ssize_t writev(int file, const struct iovec *data, int count) {
    REAL(ssize_t, "writev", int, const struct iovec *, int);
    return fails_at(file) ? -1 : real(file, data, count);
}
int fsync(int file) {
    REAL(int, "fsync", int);
    return fails_at(file) ? -1 : real(file);
}
int ftruncate64(int file, off64_t size) {
    REAL(int, "ftruncate64", int, off64_t);
    return fails_at(file) ? -1 : real(file, size);
}
int rename(const char *from, const char *to) {
    REAL(int, "rename", const char *, const char *);
    return fails(to) ? -1 : real(from, to);
}
int mkdir(const char *path, mode_t mode) {
    REAL(int, "mkdir", const char *, mode_t);
    return fails(path) ? -1 : real(path, mode);
}
static int opened(const char *name, const char *path, int flags, int mode) {
    REAL(int, name, const char *, int, int);
    return (flags & (O_CREAT | O_WRONLY | O_RDWR)) && fails(path) ? -1 : real(path, flags, mode);
}
int open64(const char *path, int flags, ...) {
    va_list rest;
    va_start(rest, flags);
    int mode = va_arg(rest, int);
    va_end(rest);
    return opened("open64", path, flags, mode);
}
int open(const char *path, int flags, ...) {
    va_list rest;
    va_start(rest, flags);
    int mode = va_arg(rest, int);
    va_end(rest);
    return opened("open", path, flags, mode);
}
