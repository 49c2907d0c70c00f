#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "compile.h"
#include "symbols.h"
#include "toolkit.h"
#include "versions.h"

typedef struct fake_api {
    int (*fake_version)(void);
    int (*fake_call)(int);
    int (*fake_extra)(void);
} fake_api;

static const ako_symbol fake_symbols[] = {
    AKO_SYMBOL(fake_api, fake_version),
    AKO_SYMBOL(fake_api, fake_call),
    AKO_SYMBOL_OPTIONAL(fake_api, fake_extra),
    {NULL, 0, false},
};

static const ako_library fake_library = {
    .name = "Fake",
    .sonames = (const char *const[]){"libakofake.so.2", "libakofake.so.1", NULL},
    .toolkit = true,
    .oldest = 12060,
    .newest = 13990,
    .wanted = "12.6 to 13.x",
};

static int fake_version_of(const void *table)
{
    const fake_api *api = table;
    return api->fake_version ? api->fake_version() : 0;
}

/* A fake library of some version in the file `path` below the test's folder. */
static void make_fake(const char *path, int version, const char *rest)
{
    char source[256];
    snprintf(source, sizeof source, "int fake_version(void) { return %d; }\n%s", version, rest);
    assert_non_null(compile_shared(path, source));
}

#define CALL "int fake_call(int x) { return x + 1; }\n"

static void look_only_in(const char *folders)
{
    char list[4 * PATH_MAX] = "";
    size_t used = 0;
    for (const char *f = folders; *f; f += strcspn(f, ":"), f += *f == ':')
        used += (size_t)snprintf(list + used, sizeof list - used, "%s%s/%.*s", used ? ":" : "", compile_dir,
                                 (int)strcspn(f, ":"), f);
    setenv("AKO_LIBRARY_PATH", list, 1);
}

static int load(ako_loaded *out, fake_api *api)
{
    memset(out, 0, sizeof *out);
    memset(api, 0, sizeof *api);
    return ako_library_load(out, api, &fake_library, fake_symbols, fake_version_of);
}

static void assert_unavailable(const char *folders, const char *message)
{
    ako_loaded loaded;
    fake_api api;
    look_only_in(folders);
    assert_int_equal(load(&loaded, &api), AKO_UNAVAILABLE);
    assert_non_null(strstr(ako_error_last()->message, message));
    assert_null(strchr(ako_error_last()->message, '\n'));
    assert_null(api.fake_call);
    ako_error_clear();
    assert_int_equal(ako_loaded_report(&loaded), AKO_UNAVAILABLE);
    assert_non_null(strstr(ako_error_last()->message, message));
}

static void fills_the_table(void **state)
{
    (void)state;
    ako_loaded loaded;
    fake_api api;
    make_fake("good/libakofake.so.1", 13000, CALL);
    look_only_in("good");
    assert_int_equal(load(&loaded, &api), AKO_OK);
    assert_int_equal(api.fake_call(41), 42);
    assert_null(api.fake_extra);
    assert_int_equal(loaded.version, 13000);
    assert_non_null(strstr(loaded.path, "good/libakofake.so.1"));
    assert_int_equal(ako_loaded_report(&loaded), AKO_OK);
}

static void names_what_does_not_fit(void **state)
{
    (void)state;
    make_fake("old/libakofake.so.1", 11080, CALL);
    make_fake("new/libakofake.so.1", 14000, CALL);
    make_fake("poor/libakofake.so.1", 12080, "");
    assert_unavailable("old", "Fake 11.8 (");
    assert_unavailable("old", "is too old: 12.6 to 13.x is wanted");
    assert_unavailable("new", "Fake 14.0 (");
    assert_unavailable("new", "is too new: 12.6 to 13.x is wanted");
    assert_unavailable("poor", "poor/libakofake.so.1) has no fake_call: wanted is version 12.6 to 13.x");
}

static void names_what_is_no_library(void **state)
{
    (void)state;
    char path[2 * PATH_MAX];
    snprintf(path, sizeof path, "%s/text", compile_dir);
    assert_int_equal(ako_fs_mkdirs(path), AKO_OK);
    snprintf(path, sizeof path, "%s/text/libakofake.so.1", compile_dir);
    assert_int_equal(ako_fs_write(path, "text", 4, false), AKO_OK);
    assert_unavailable("text", "cannot load Fake: ");
}

static void says_where_it_looked(void **state)
{
    (void)state;
    assert_int_equal(ako_fs_mkdirs(compile_dir), AKO_OK);
    make_fake("empty/other.so", 13000, CALL);
    assert_unavailable("empty", "no Fake: no libakofake.so.2 in ");
    assert_unavailable("empty", "/empty; set CUDA_HOME to the toolkit");
}

static void an_unfit_library_hides_no_good_one(void **state)
{
    (void)state;
    ako_loaded loaded;
    fake_api api;
    make_fake("old/libakofake.so.1", 11080, CALL);
    make_fake("second/libakofake.so.2", 12060, CALL);
    look_only_in("old:missing:second");
    assert_int_equal(load(&loaded, &api), AKO_OK);
    assert_int_equal(loaded.version, 12060);
    assert_non_null(strstr(loaded.path, "second/libakofake.so.2"));
}

static void expect_found_under(const char *variable, const char *value, const char *file)
{
    char saved[PATH_MAX] = "", path[PATH_MAX];
    const char *before = getenv(variable);
    snprintf(saved, sizeof saved, "%s", before ? before : "");
    unsetenv("AKO_LIBRARY_PATH");
    snprintf(path, sizeof path, "%.2000s/%.1000s", compile_dir, value);
    setenv(variable, path, 1);
    make_fake(file, 13000, CALL);
    assert_int_equal(ako_library_find(path, &fake_library), AKO_OK);
    assert_non_null(strstr(path, file));
    setenv(variable, saved, 1);
}

static void searches_toolkits_and_wheels(void **state)
{
    (void)state;
    char path[PATH_MAX];
    unsetenv("AKO_LIBRARY_PATH");
    assert_int_equal(ako_library_find(path, &fake_library), AKO_NOTFOUND);
    expect_found_under("CUDA_HOME", "kit", "kit/lib64/libakofake.so.1");
    expect_found_under("CUDA_PATH", "kit2", "kit2/extras/CUPTI/lib64/libakofake.so.2");
    expect_found_under("VIRTUAL_ENV", "venv", "venv/lib/python3.99/site-packages/nvidia/cu13/lib/libakofake.so.1");
    expect_found_under("HOME", "home",
                       "home/.local/lib/python3.9/site-packages/nvidia/cuda_runtime/lib/libakofake.so.2");
}

static const char *text_of(const ako_json *object, const char *key)
{
    const ako_json *value = ako_json_get(object, key);
    return value ? ako_json_string(value, NULL) : NULL;
}

static const ako_json *entry_of(const ako_json *list, const char *name)
{
    for (size_t i = 0; i < ako_json_count(list); i++)
        if (strcmp(text_of(ako_json_at(list, i), "name"), name) == 0)
            return ako_json_at(list, i);
    return NULL;
}

static void versions_name_every_library(void **state)
{
    (void)state;
    ako_json *list;
    unsetenv("AKO_LIBRARY_PATH");
    assert_int_equal(ako_versions(&list), AKO_OK);
    for (const char *const *name = (const char *const[]){"libgit2", "PCRE2", "jansson", NULL}; *name; name++) {
        assert_true(text_of(entry_of(list, *name), "version")[0] >= '0');
        assert_int_equal(text_of(entry_of(list, *name), "path")[0], '/');
    }
    for (const char *const *name =
             (const char *const[]){"CUDA Runtime", "NVRTC", "CUPTI", "NVML", "NVIDIA driver", NULL};
         *name; name++)
        assert_true(text_of(entry_of(list, *name), "path") || text_of(entry_of(list, *name), "why"));
    ako_json_free(list);
}

static void versions_say_what_is_missing(void **state)
{
    (void)state;
    ako_json *list;
    look_only_in("nothing");
    assert_int_equal(ako_versions(&list), AKO_OK);
    assert_string_equal(text_of(entry_of(list, "NVRTC"), "version"), "");
    assert_non_null(strstr(text_of(entry_of(list, "NVRTC"), "why"), "no NVRTC: no libnvrtc.so.13 in "));
    ako_json_free(list);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fills_the_table),
        cmocka_unit_test(names_what_does_not_fit),
        cmocka_unit_test(names_what_is_no_library),
        cmocka_unit_test(says_where_it_looked),
        cmocka_unit_test(an_unfit_library_hides_no_good_one),
        cmocka_unit_test(searches_toolkits_and_wheels),
        cmocka_unit_test(versions_name_every_library),
        cmocka_unit_test(versions_say_what_is_missing),
    };
    return cmocka_run_group_tests(tests, compile_setup, compile_done);
}
