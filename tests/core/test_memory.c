/* Run as `test_memory import PLACE BYTES HANDLE FD` it is the other process: it checks the pattern and answers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "gpu_fixture.h"
#include "memory.h"

#define BYTES 5000u
#define QUESTION 0x5a
#define ANSWER 0xa5

extern char **environ;

static int all_are(const unsigned char *bytes, int value)
{
    for (unsigned i = 0; i < BYTES; i++)
        if (bytes[i] != value)
            return 0;
    return 1;
}

/* ---- the other process ---- */

static int answer_on_cpu(ako_memory *m)
{
    int right = all_are(ako_memory_base(m), QUESTION);
    memset(ako_memory_base(m), ANSWER, BYTES);
    return right ? 0 : 3;
}

static int answer_on_gpu(ako_memory *m)
{
#ifdef AKO_HAVE_CUDA
    const ako_cudart_api *cuda;
    unsigned char bytes[BYTES];
    if (ako_cudart(&cuda) != AKO_OK ||
        cuda->cudaMemcpy(bytes, ako_memory_base(m), BYTES, cudaMemcpyDeviceToHost) != cudaSuccess ||
        cuda->cudaMemset(ako_memory_base(m), ANSWER, BYTES) != cudaSuccess ||
        cuda->cudaDeviceSynchronize() != cudaSuccess)
        return 4;
    return all_are(bytes, QUESTION) ? 0 : 3;
#else
    (void)m;
    return 4;
#endif
}

static int other_process(char **argv)
{
    ako_memory *m;
    ako_place place = strcmp(argv[2], "gpu") == 0 ? AKO_GPU : AKO_CPU;
    if (ako_memory_import(&m, place, (uint64_t)atoll(argv[3]), argv[4], atoi(argv[5])) != AKO_OK) {
        fprintf(stderr, "%s\n", ako_error_last()->message);
        return 2;
    }
    int code = place == AKO_GPU ? answer_on_gpu(m) : answer_on_cpu(m);
    ako_memory_free(m);
    return code;
}

/* Exports the block and returns the exit code of another process that imports it. */
static int share(const ako_memory *m, const char *place)
{
    char handle[129], bytes[32], fd_text[16];
    int fd, status = -1;
    pid_t pid;
    assert_int_equal(ako_memory_export(m, handle, &fd), AKO_OK);
    snprintf(bytes, sizeof bytes, "%llu", (unsigned long long)ako_memory_bytes(m));
    int passed = fd < 0 ? -1 : dup(fd); /* without CLOEXEC */
    snprintf(fd_text, sizeof fd_text, "%d", passed);
    char *const argv[] = {"test_memory", "import", (char *)(uintptr_t)place, bytes, handle, fd_text, NULL};
    assert_int_equal(posix_spawn(&pid, "/proc/self/exe", NULL, NULL, argv, environ), 0);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    if (passed >= 0)
        close(passed);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 255;
}

/* ---- tests ---- */

static void cpu_block(void **state)
{
    (void)state;
    ako_memory *m;
    assert_int_equal(ako_memory_new(&m, AKO_CPU, BYTES), AKO_OK);
    assert_int_equal((uintptr_t)ako_memory_base(m) % 256, 0);
    assert_int_equal(ako_memory_bytes(m), BYTES);
    assert_int_equal(ako_memory_place(m), AKO_CPU);
    memset(ako_memory_base(m), QUESTION, BYTES);
    assert_int_equal(share(m, "cpu"), 0);
    assert_true(all_are(ako_memory_base(m), ANSWER));
    ako_memory_free(m);
    ako_memory_free(NULL);
}

static void cpu_size_is_sealed(void **state)
{
    (void)state;
    ako_memory *m;
    char handle[129];
    int fd;
    assert_int_equal(ako_memory_new(&m, AKO_CPU, BYTES), AKO_OK);
    assert_int_equal(ako_memory_export(m, handle, &fd), AKO_OK);
    assert_string_equal(handle, "");
    assert_int_equal(ftruncate(fd, 1), -1);
    assert_int_equal(ftruncate(fd, 1 << 20), -1);
    assert_true(fcntl(fd, F_GETFD) & FD_CLOEXEC);
    assert_int_equal(fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE), -1);
    ako_memory_free(m);
    assert_int_equal(fcntl(fd, F_GETFD), -1);
}

static void empty_block(void **state)
{
    (void)state;
    ako_memory *m;
    assert_int_equal(ako_memory_new(&m, AKO_CPU, 0), AKO_OK);
    assert_non_null(ako_memory_base(m));
    assert_int_equal(ako_memory_bytes(m), 0);
    ako_memory_free(m);
}

static void too_large(void **state)
{
    (void)state;
    ako_memory *m;
    assert_int_equal(ako_memory_new(&m, AKO_CPU, UINT64_C(1) << 60), AKO_NOMEM);
    assert_null(m);
    assert_non_null(strstr(ako_error_last()->message, "1152921504606846976 bytes do not fit: "));
}

static void cpu_import_looks_before_it_maps(void **state)
{
    (void)state;
    ako_memory *m, *copy;
    char handle[129];
    int fd;
    assert_int_equal(ako_memory_new(&m, AKO_CPU, BYTES), AKO_OK);
    assert_int_equal(ako_memory_export(m, handle, &fd), AKO_OK);
    int small = dup(fd);
    assert_int_equal(ako_memory_import(&copy, AKO_CPU, BYTES + 4096, "", small), AKO_INVALID);
    assert_null(copy);
    assert_int_equal(fcntl(small, F_GETFD), -1);
    int loose = memfd_create("loose", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    assert_int_equal(ftruncate(loose, BYTES), 0);
    assert_int_equal(ako_memory_import(&copy, AKO_CPU, BYTES, "", loose), AKO_INVALID);
    assert_int_equal(fcntl(loose, F_GETFD), -1);
    assert_int_equal(ako_memory_import(&copy, AKO_CPU, BYTES, "", dup(fd)), AKO_OK);
    assert_int_equal(ako_memory_export(copy, handle, &fd), AKO_INVALID);
    ako_memory_free(copy);
    ako_memory_free(m);
}

static void bad_handle(void **state)
{
    (void)state;
    ako_memory *m;
    int status = ako_memory_import(&m, AKO_GPU, BYTES, "0123", -1);
    assert_null(m);
    assert_true(status == AKO_INVALID || status == AKO_UNAVAILABLE);
}

static void gpu_block(void **state)
{
    (void)state;
    need_gpu();
#ifdef AKO_HAVE_CUDA
    const ako_cudart_api *cuda = gpu_runtime();
    unsigned char bytes[BYTES];
    ako_memory *m;
    assert_int_equal(ako_memory_new(&m, AKO_GPU, BYTES), AKO_OK);
    assert_int_equal((uintptr_t)ako_memory_base(m) % 256, 0);
    assert_int_equal(cuda->cudaMemset(ako_memory_base(m), QUESTION, BYTES), cudaSuccess);
    assert_int_equal(cuda->cudaDeviceSynchronize(), cudaSuccess);
    assert_int_equal(share(m, "gpu"), 0);
    assert_int_equal(cuda->cudaMemcpy(bytes, ako_memory_base(m), BYTES, cudaMemcpyDeviceToHost), cudaSuccess);
    assert_true(all_are(bytes, ANSWER));
    ako_memory_free(m);
#endif
}

static void gpu_too_large(void **state)
{
    (void)state;
    ako_memory *m;
    need_gpu();
    assert_int_equal(ako_memory_new(&m, AKO_GPU, UINT64_C(1) << 50), AKO_NOMEM);
    assert_non_null(strstr(ako_error_last()->message, "bytes do not fit on the GPU: "));
    assert_int_equal(ako_memory_new(&m, AKO_GPU, BYTES), AKO_OK);
    ako_memory_free(m);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cpu_block),
        cmocka_unit_test(cpu_size_is_sealed),
        cmocka_unit_test(empty_block),
        cmocka_unit_test(too_large),
        cmocka_unit_test(cpu_import_looks_before_it_maps),
        cmocka_unit_test(bad_handle),
        cmocka_unit_test(gpu_block),
        cmocka_unit_test(gpu_too_large),
    };
    if (argc == 6 && strcmp(argv[1], "import") == 0)
        return other_process(argv);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
