/* Threads that are first scheduled when the Python interpreter of their process has ended.
 *
 * Preloaded, this holds back each thread that begins while LATE_THREADS is set, until the last step
 * of the process, which then waits for them, so that what they do shows.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

struct late {
    void *(*run)(void *);
    void *argument;
};

static atomic_int held, begun, has_ended;

static void *begin(void *given)
{
    struct late late = *(struct late *)given;
    while (!atomic_load(&has_ended))
        usleep(1000);
    atomic_fetch_add(&begun, 1);
    return late.run(late.argument);
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *),
                   void *argument)
{
    int (*create)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *) =
        (int (*)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *))dlsym(
            RTLD_NEXT, "pthread_create");
    if (!getenv("LATE_THREADS"))
        return create(thread, attributes, run, argument);
    struct late *late = malloc(sizeof *late);
    late->run = run;
    late->argument = argument;
    atomic_fetch_add(&held, 1);
    return create(thread, attributes, begin, late);
}

__attribute__((destructor)) static void end(void)
{
    atomic_store(&has_ended, 1);
    while (atomic_load(&begun) < atomic_load(&held))
        usleep(1000);
    if (atomic_load(&held))
        usleep(500 * 1000);
}
