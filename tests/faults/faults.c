// Loaded into a program before the C library (LD_PRELOAD), this lets allocations and starts of threads fail. The file
// that the environment variable CAROM_FAULTS names controls it: see faults.rs.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

struct control {
    int64_t before;  // allocations that succeed before one fails
    uint64_t least;  // smaller ones do not count, 0: none counts
    uint64_t failed; // allocations that have failed
    uint64_t threads; // whether no thread can be started
    uint64_t ignored[4]; // sizes that do not count
    uint64_t trace; // whether each failure is shown
    uint64_t lasting; // whether all further allocations fail, too
};

extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);

static struct control *control;

__attribute__((constructor)) static void begin(void) {
    const char *path = getenv("CAROM_FAULTS");
    int file = path ? open(path, O_RDWR) : -1;
    if (file >= 0) {
        void *mapped = mmap(NULL, sizeof *control, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
        control = mapped == MAP_FAILED ? NULL : mapped;
        close(file);
    }
}

static int fails(size_t size) {
    struct control *c = control;
    if (!c || !c->least || size < c->least) return 0;
    for (int k = 0; k < 4; k++)
        if (size == c->ignored[k]) return 0;
    int64_t before = __atomic_fetch_sub(&c->before, 1, __ATOMIC_SEQ_CST);
    if (c->lasting ? before > 0 : before != 0) return 0;
    __atomic_fetch_add(&c->failed, 1, __ATOMIC_SEQ_CST);
    if (c->trace) {
        uint64_t least = c->least;
        void *frames[40];
        c->least = 0;
        backtrace_symbols_fd(frames, backtrace(frames, 40), 2);
        c->least = least;
    }
    errno = ENOMEM;
    return 1;
}

void *malloc(size_t size) { return fails(size) ? NULL : __libc_malloc(size); }

void *calloc(size_t count, size_t size) { return fails(count * size) ? NULL : __libc_calloc(count, size); }

void *realloc(void *old, size_t size) { return fails(size) ? NULL : __libc_realloc(old, size); }

void *aligned_alloc(size_t align, size_t size) { return fails(size) ? NULL : __libc_memalign(align, size); }

int posix_memalign(void **place, size_t align, size_t size) {
    void *made = fails(size) ? NULL : __libc_memalign(align, size);
    if (!made) return ENOMEM;
    *place = made;
    return 0;
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*work)(void *), void *of) {
    static int (*real)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
    if (control && control->threads) return EAGAIN;
    if (!real) *(void **)&real = dlsym(RTLD_NEXT, "pthread_create");
    return real(thread, attributes, work, of);
}
