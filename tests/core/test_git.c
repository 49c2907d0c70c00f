/* Against real repositories. What can be compared with the git program is, where there is one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "error.h"
#include "fs.h"
#include "git.h"
#include "small_disk.h"

static char root[256]; /* holds home/ and repo/ */
static char repo[300];
static ako_git *git;

/* ---- helpers ---- */

static char *in_repo(const char *path)
{
    static char full[8][9000];
    static int turn;
    turn = (turn + 1) % 8;
    snprintf(full[turn], sizeof full[turn], "%s/%s", repo, path);
    return full[turn];
}

static void write_file(const char *path, const char *text)
{
    char *full = in_repo(path), *slash = strrchr(full, '/');
    *slash = '\0';
    assert_int_equal(ako_fs_mkdirs(full), AKO_OK);
    *slash = '/';
    assert_int_equal(ako_fs_write(full, text, strlen(text), false), AKO_OK);
}

static void assert_file(const char *path, const char *want)
{
    ako_buf got = {0};
    assert_int_equal(ako_fs_read(&got, in_repo(path), 0), AKO_OK);
    assert_string_equal(got.data, want);
    ako_buf_free(&got);
}

static void assert_gone(const char *path)
{
    struct stat st;
    assert_int_equal(lstat(in_repo(path), &st), -1);
}

static bool have_git(void)
{
    static int have = -1;
    if (have < 0)
        have = system("git --version >/dev/null 2>&1") == 0;
    return have;
}

/* Runs git in the repository; the output is valid until the next call. */
static const char *run_git(const char *arguments)
{
    static char output[65536];
    char command[2048];
    snprintf(command, sizeof command, "cd '%s' && git -c user.name=U -c user.email=u@x %s 2>&1", repo, arguments);
    FILE *pipe = popen(command, "r");
    assert_non_null(pipe);
    size_t n = fread(output, 1, sizeof output - 1, pipe);
    output[n] = '\0';
    if (pclose(pipe) != 0)
        fail_msg("git %s: %s", arguments, output);
    return output;
}

static void need_git(void)
{
    if (!have_git())
        skip();
}

#define PATHS(...) ((const char *const[]){__VA_ARGS__}), sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *)

static ako_git_oid tree_of(const char *base, const char *path)
{
    ako_git_oid oid;
    assert_int_equal(ako_git_tree(&oid, git, base, PATHS(path)), AKO_OK);
    return oid;
}

static ako_git_oid commit(const char *tree, const char *parent, const char *ref)
{
    ako_git_oid oid;
    ako_git_commit_spec spec = {.tree = tree,
                                .parents = &parent,
                                .n_parents = parent != NULL,
                                .message = "a trial\n",
                                .time_s = 1700000000,
                                .ref = ref};
    assert_int_equal(ako_git_commit(&oid, git, &spec), AKO_OK);
    return oid;
}

static void assert_reads(const char *rev, const char *path, const char *want)
{
    ako_buf got = {0};
    assert_int_equal(ako_git_read(&got, git, rev, path), AKO_OK);
    assert_string_equal(got.data ? got.data : "", want);
    ako_buf_free(&got);
}

static void assert_lacks(const char *rev, const char *path)
{
    ako_buf got = {0};
    assert_int_equal(ako_git_read(&got, git, rev, path), AKO_NOTFOUND);
    ako_buf_free(&got);
}

static int restore(const char *rev, const char *path, bool remove)
{
    return ako_git_restore(git, rev, &path, 1, &(ako_git_restore_options){.remove = remove});
}

static int append_line(void *payload, const char *first, const char *second)
{
    ako_buf_printf(payload, "%s %s\n", second, first);
    return 0;
}

static void assert_status(const char *want)
{
    ako_buf got = {0};
    assert_int_equal(ako_git_status(git, append_line, &got), AKO_OK);
    assert_string_equal(got.data ? got.data : "", want);
    ako_buf_free(&got);
}

static void reopen(const char *path)
{
    ako_git_free(git);
    assert_int_equal(ako_git_open(&git, path), AKO_OK);
}

static int set_up(void **state)
{
    (void)state;
    if (ako_fs_temp_dir(root, sizeof root, "ako-test") != AKO_OK)
        return -1;
    char home[300];
    snprintf(home, sizeof home, "%s/home", root);
    snprintf(repo, sizeof repo, "%s/repo", root);
    bool created = false;
    return ako_fs_mkdirs(home) == AKO_OK && ako_git_init(&git, repo, false, &created) == AKO_OK && created ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    ako_git_free(git);
    git = NULL;
    return ako_fs_remove_tree(root);
}

/* ---- repository ---- */

/* The first test: nothing has been opened yet. */
static void hashes_without_a_repository(void **state)
{
    (void)state;
    ako_git_oid oid;
    assert_int_equal(ako_git_hash(&oid, "", 0), AKO_OK);
    assert_string_equal(oid.hex, "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391");
}

static void init_makes_an_unborn_main(void **state)
{
    (void)state;
    ako_git_head head;
    assert_int_equal(ako_git_head_get(&head, git), AKO_OK);
    assert_string_equal(head.ref, "refs/heads/main");
    assert_string_equal(head.oid.hex, "");
    assert_string_equal(ako_git_workdir(git), repo);
    assert_string_equal(ako_git_commondir(git), in_repo(".git"));
    assert_string_equal(ako_git_prefix(git), "");
    assert_status("");
}

static void init_uses_what_is_there(void **state)
{
    (void)state;
    ako_git *inner;
    bool created = true;
    assert_int_equal(ako_git_init(&inner, in_repo("a/b"), false, &created), AKO_OK);
    assert_false(created);
    assert_string_equal(ako_git_prefix(inner), "a/b/");
    assert_string_equal(ako_git_workdir(inner), repo);
    ako_git_free(inner);
}

/* Commits a file of bytes that compress badly, if there is room: false when something was said to be there and is not.
 */
static bool store_honestly(unsigned seed)
{
    char name[16], text[600];
    snprintf(name, sizeof name, "f%u", seed);
    for (size_t i = 0; i < sizeof text; i++) {
        seed = seed * 1664525u + 1013904223u;
        text[i] = (char)(seed >> 24);
    }
    char path[300];
    snprintf(path, sizeof path, "%s/%s", root, name);
    ako_git_oid tree, commit;
    const char *const paths[] = {name};
    if (ako_fs_write(path, text, sizeof text, false) != AKO_OK || ako_git_tree(&tree, git, NULL, paths, 1) != AKO_OK)
        return true;
    const ako_git_commit_spec spec = {.tree = tree.hex, .message = "m"};
    if (ako_git_commit(&commit, git, &spec) != AKO_OK)
        return true;
    ako_buf content = {0};
    bool there = ako_git_read(&content, git, commit.hex, name) == AKO_OK && content.size == sizeof text;
    ako_buf_free(&content);
    return there;
}

static int store_on_a_full_disk(void)
{
    if (ako_git_init(&git, root, false, NULL) != AKO_OK)
        return 1;
    for (unsigned round = 1; round < 64; round++) {
        fill_disk(root, 4096 * (long)(round % 8));
        if (!store_honestly(round))
            return 2;
    }
    return 0;
}

static void says_what_a_full_disk_does_not_take(void **state)
{
    (void)state;
    assert_true(with_small_disk(root, store_on_a_full_disk));
}

static void init_can_insist_on_one_of_its_own(void **state)
{
    (void)state;
    ako_git *own;
    bool created = false;
    for (int i = 0; i < 2; i++) {
        assert_int_equal(ako_git_init(&own, in_repo("a/b"), true, &created), AKO_OK);
        assert_int_equal(created, i == 0);
        assert_string_equal(ako_git_prefix(own), "");
        assert_string_equal(ako_git_workdir(own), in_repo("a/b"));
        ako_git_free(own);
    }
}

static void init_leaves_a_damaged_repository_alone(void **state)
{
    (void)state;
    ako_git *none;
    assert_int_equal(unlink(in_repo(".git/HEAD")), 0);
    for (int own = 0; own < 2; own++) {
        assert_int_equal(ako_git_init(&none, repo, own, NULL), AKO_INVALID);
        assert_non_null(strstr(ako_error_last()->message, "/repo/.git is no git repository: mend it or take it away"));
        assert_null(none);
    }
    assert_gone(".git/HEAD");
}

static void opening_says_what_is_wrong(void **state)
{
    (void)state;
    ako_git *none;
    char path[300];
    snprintf(path, sizeof path, "%s/home", root);
    assert_int_equal(ako_git_open(&none, path), AKO_NOTFOUND);
    assert_non_null(strstr(ako_error_last()->message, "is not in a git repository"));
    assert_int_equal(ako_git_open(&none, "/no/such/folder"), AKO_NOTFOUND);
    assert_null(none);
}

static void refuses_another_users_repository(void **state)
{
    (void)state;
    if (getuid() != 0)
        skip();
    ako_git *theirs;
    assert_int_equal(chown(repo, 12345, 12345), 0);
    assert_int_equal(chown(in_repo(".git"), 12345, 12345), 0);
    assert_int_equal(ako_git_open(&theirs, repo), AKO_UNAVAILABLE);
    char remedy[400];
    snprintf(remedy, sizeof remedy, "git config --global --add safe.directory '%s'", repo);
    assert_non_null(strstr(ako_error_last()->message, remedy));
    assert_int_equal(ako_fs_mkdirs(in_repo("inside")), AKO_OK);
    assert_int_equal(ako_git_init(&theirs, in_repo("inside"), false, NULL),
                     AKO_UNAVAILABLE); /* none of its own in there */
    assert_gone("inside/.git");
}

/* ---- trees and commits ---- */

static void trees_hold_bytes_modes_and_links(void **state)
{
    (void)state;
    write_file(".gitattributes", "* text eol=lf\n");
    write_file("solution/kernel.cu", "one\r\ntwo\r\n"); /* a filter would make \n of these */
    write_file("solution/run.sh", "#!/bin/sh\n");
    assert_int_equal(chmod(in_repo("solution/run.sh"), 0755), 0);
    assert_int_equal(symlink("../nowhere", in_repo("solution/link")), 0);
    ako_git_oid tree = tree_of(NULL, "solution");
    assert_reads(tree.hex, "solution/kernel.cu", "one\r\ntwo\r\n");
    assert_reads(tree.hex, "solution/link", "../nowhere");
    assert_lacks(tree.hex, ".gitattributes");
    if (have_git()) {
        char command[100];
        snprintf(command, sizeof command, "ls-tree -r --format='%%(objectmode) %%(path)' %s", tree.hex);
        assert_string_equal(run_git(command),
                            "100644 solution/kernel.cu\n120000 solution/link\n100755 solution/run.sh\n");
    }
}

static void trees_start_from_a_base(void **state)
{
    (void)state;
    write_file("a", "a1");
    write_file("a-b", "x");
    write_file("dir/one", "1");
    write_file("dir/two", "2");
    ako_git_oid all = tree_of(NULL, ".");
    ako_git_oid base = commit(all.hex, NULL, NULL);
    write_file("a", "a2");
    write_file("a-b", "not asked for");
    assert_int_equal(ako_fs_remove_tree(in_repo("dir")), AKO_OK);
    ako_git_oid tree;
    assert_int_equal(ako_git_tree(&tree, git, base.hex, PATHS("a", "dir/one", "never/was")), AKO_OK);
    assert_reads(tree.hex, "a", "a2");
    assert_reads(tree.hex, "a-b", "x");
    assert_reads(tree.hex, "dir/two", "2");
    assert_lacks(tree.hex, "dir/one");
    tree = tree_of(base.hex, "dir"); /* nothing is left of it: no empty folder either */
    assert_lacks(tree.hex, "dir");
    assert_int_equal(ako_git_tree(&tree, git, base.hex, NULL, 0), AKO_OK);
    assert_string_equal(tree.hex, all.hex);
}

static void files_and_folders_take_each_others_place(void **state)
{
    (void)state;
    write_file("x", "file");
    write_file("y/in", "folder");
    ako_git_oid before = tree_of(NULL, ".");
    assert_int_equal(unlink(in_repo("x")), 0);
    assert_int_equal(ako_fs_remove_tree(in_repo("y")), AKO_OK);
    write_file("x/in", "folder now");
    write_file("y", "file now");
    ako_git_oid after, asked = tree_of(NULL, ".");
    assert_int_equal(ako_git_tree(&after, git, before.hex, PATHS("x", "y")), AKO_OK);
    assert_string_equal(after.hex, asked.hex);
    assert_int_equal(ako_git_tree(&after, git, before.hex, PATHS("x", "x/in", "y")), AKO_OK);
    assert_string_equal(after.hex, asked.hex);
    assert_int_equal(restore(before.hex, ".", false), AKO_EXISTS);
    assert_file("x/in", "folder now");
    assert_int_equal(restore(before.hex, ".", true), AKO_OK);
    assert_file("x", "file");
    assert_file("y/in", "folder");
}

static void folders_leave_out_what_git_ignores(void **state)
{
    (void)state;
    write_file("kept.o", "tracked before it was ignored");
    ako_git_oid base = tree_of(NULL, "kept.o");
    write_file(".gitignore", "*.o\nbuild/\n");
    write_file("kept.o", "changed");
    write_file("new.o", "ignored");
    write_file("build/deep/x", "ignored");
    write_file("nested/.git/HEAD", "another repository");
    write_file("nested/file", "its file");
    ako_git_oid tree = tree_of(base.hex, ".");
    assert_reads(tree.hex, "kept.o", "changed");
    assert_reads(tree.hex, ".gitignore", "*.o\nbuild/\n");
    assert_lacks(tree.hex, "new.o");
    assert_lacks(tree.hex, "build");
    assert_lacks(tree.hex, "nested");
    tree = tree_of(base.hex, "new.o"); /* named itself, it is meant */
    assert_reads(tree.hex, "new.o", "ignored");
}

static void paths_are_checked(void **state)
{
    (void)state;
    char longest[5000], deep[5000];
    memset(longest, 'n', 300);
    longest[300] = '\0';
    for (size_t i = 0; i < sizeof deep - 1; i++)
        deep[i] = "abc/"[i % 4];
    deep[sizeof deep - 1] = '\0';
    assert_int_equal(symlink("/", in_repo("link")), 0);
    const char *const bad[] = {"../x", "a/../../x",       "/etc/passwd", ".git/config", "a/.GIT/x",
                               "",     "link/etc/passwd", longest,       deep};
    ako_git_oid oid;
    ako_buf content = {0};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(ako_git_tree(&oid, git, NULL, &bad[i], 1), AKO_INVALID);
        assert_memory_equal(ako_error_last()->message, "bad path '", 10);
        assert_in_range(strlen(ako_error_last()->message), 20, 400);
        assert_int_equal(ako_git_hash_file(&oid, git, bad[i]), AKO_INVALID);
        tree_of(NULL, ".");
        bool a_name = strncmp(bad[i], "link/", 5) == 0; /* a tree may have a folder where the disk has a link */
        int wanted = a_name ? AKO_NOTFOUND : AKO_INVALID;
        assert_int_equal(ako_git_read(&content, git, tree_of(NULL, ".").hex, bad[i]), wanted);
        assert_int_equal(restore(tree_of(NULL, ".").hex, bad[i], true), AKO_INVALID);
    }
    assert_int_equal(mkfifo(in_repo("fifo"), 0600), 0);
    assert_int_equal(ako_git_tree(&oid, git, NULL, PATHS("fifo")), AKO_INVALID);
    assert_non_null(strstr(ako_error_last()->message, "neither a file nor a link"));
}

static void names_may_be_any_bytes(void **state)
{
    (void)state;
    char longest[256];
    memset(longest, 'n', 255);
    longest[255] = '\0';
    write_file("caf\xe9", "latin");
    write_file("./with space\n", "odd");
    write_file(longest, "as long as it gets");
    ako_git_oid tree = tree_of(NULL, ".");
    assert_reads(tree.hex, "caf\xe9", "latin");
    assert_reads(tree.hex, ".//with space\n", "odd");
    write_file("caf\xe9", "changed");
    write_file(longest, "changed");
    assert_int_equal(restore(tree.hex, ".", false), AKO_OK);
    assert_file("caf\xe9", "latin");
    assert_file(longest, "as long as it gets");
}

static void commits_carry_an_author(void **state)
{
    (void)state;
    write_file("f", "1");
    ako_git_oid tree = tree_of(NULL, "f"), oid;
    oid = commit(tree.hex, NULL, "refs/ako/run/0");
    ako_git_commit_spec spec = {.tree = tree.hex,
                                .parents = (const char *const[]){oid.hex},
                                .n_parents = 1,
                                .message = "second",
                                .author = "A B <a@b>",
                                .time_s = 1700000001};
    ako_git_oid second;
    assert_int_equal(ako_git_commit(&second, git, &spec), AKO_OK);
    spec.author = "no mail";
    assert_int_equal(ako_git_commit(&second, git, &spec), AKO_INVALID);
    spec.author = NULL;
    spec.parents = (const char *const[]){"0123456789012345678901234567890123456789"};
    assert_int_equal(ako_git_commit(&second, git, &spec), AKO_NOTFOUND);
}

typedef struct seen {
    int n;
    ako_buf text;
} seen;

static int see_commit(void *payload, const ako_git_commit_info *info)
{
    seen *s = payload;
    s->n++;
    ako_buf_printf(&s->text, "%s <%s> %lld %s%s", info->author, info->email, (long long)info->time_s, info->message,
                   *info->parent ? "" : "root\n");
    return 0;
}

static void log_walks_from_the_newest(void **state)
{
    (void)state;
    write_file("f", "1");
    ako_git_oid tree = tree_of(NULL, "f"), first = commit(tree.hex, NULL, NULL), second;
    ako_git_commit_spec spec = {.tree = tree.hex,
                                .parents = (const char *const[]){first.hex},
                                .n_parents = 1,
                                .message = "second\n",
                                .author = "A B <a@b>",
                                .time_s = 1700000001,
                                .ref = "refs/heads/work"};
    assert_int_equal(ako_git_commit(&second, git, &spec), AKO_OK);
    seen s = {0};
    assert_int_equal(ako_git_log(git, "refs/heads/work", 0, see_commit, &s), AKO_OK);
    assert_string_equal(s.text.data, "A B <a@b> 1700000001 second\n"
                                     "ako-lua <ako-lua@localhost> 1700000000 a trial\nroot\n");
    assert_int_equal(ako_git_log(git, second.hex, 1, see_commit, &s), AKO_OK);
    assert_int_equal(s.n, 3);
    assert_int_equal(ako_git_log(git, "nothing", 0, see_commit, &s), AKO_NOTFOUND);
    ako_buf_free(&s.text);
}

/* ---- refs ---- */

static void refs_compare_and_swap(void **state)
{
    (void)state;
    write_file("f", "1");
    ako_git_oid a = commit(tree_of(NULL, "f").hex, NULL, NULL), b = commit(tree_of(NULL, "f").hex, a.hex, NULL);
    assert_int_equal(ako_git_set_ref(git, "refs/ako/run/1", a.hex, a.hex), AKO_BUSY);
    assert_int_equal(ako_git_set_ref(git, "refs/ako/run/1", a.hex, ""), AKO_OK);
    assert_int_equal(ako_git_set_ref(git, "refs/ako/run/1", b.hex, ""), AKO_EXISTS);
    assert_int_equal(ako_git_set_ref(git, "refs/ako/run/1", b.hex, b.hex), AKO_BUSY);
    assert_int_equal(ako_git_set_ref(git, "refs/ako/run/1", b.hex, a.hex), AKO_OK);
    assert_int_equal(ako_git_set_ref(git, "refs/ako/run/1", a.hex, NULL), AKO_OK);
    assert_int_equal(ako_git_set_ref(git, "refs/ako/run/1", a.hex, "main"), AKO_INVALID);
    assert_int_equal(ako_git_set_ref(git, "HEAD", a.hex, NULL), AKO_INVALID);
    assert_int_equal(ako_git_set_ref(git, "refs/ako/a..b", a.hex, NULL), AKO_INVALID);
    assert_int_equal(ako_git_set_ref(git, "refs/ako/run/1", "nothing", NULL), AKO_NOTFOUND);
    assert_int_equal(ako_git_delete_ref(git, "refs/ako/run/1", b.hex), AKO_BUSY);
    assert_int_equal(ako_git_delete_ref(git, "refs/ako/run/1", a.hex), AKO_OK);
    assert_int_equal(ako_git_delete_ref(git, "refs/ako/run/1", NULL), AKO_NOTFOUND);
}

static void refs_are_listed_in_order(void **state)
{
    (void)state;
    write_file("f", "1");
    ako_git_oid a = commit(tree_of(NULL, "f").hex, NULL, "refs/ako/run/2");
    assert_int_equal(ako_git_set_ref(git, "refs/ako/run/1", a.hex, NULL), AKO_OK);
    if (have_git())
        run_git("pack-refs --all");
    assert_int_equal(ako_git_set_ref(git, "refs/ako/run/3", a.hex, NULL), AKO_OK);
    assert_int_equal(ako_git_set_ref(git, "refs/ako/other/1", a.hex, NULL), AKO_OK);
    ako_buf got = {0}, want = {0};
    assert_int_equal(ako_git_refs(git, "refs/ako/run/*", append_line, &got), AKO_OK);
    for (int i = 1; i <= 3; i++)
        ako_buf_printf(&want, "%s refs/ako/run/%d\n", a.hex, i);
    assert_string_equal(got.data, want.data);
    assert_int_equal(ako_git_tag(git, "v1", a.hex, NULL), AKO_OK);
    assert_int_equal(ako_git_tag(git, "v2", a.hex, "annotated\n"), AKO_OK);
    assert_int_equal(ako_git_tag(git, "v1", a.hex, NULL), AKO_EXISTS);
    ako_git_oid tagged;
    assert_int_equal(ako_git_resolve(&tagged, git, "refs/tags/v2^{commit}"), AKO_OK);
    assert_string_equal(tagged.hex, a.hex);
    ako_buf_free(&got);
    ako_buf_free(&want);
}

/* ---- restore ---- */

static void restores_byte_for_byte(void **state)
{
    (void)state;
    write_file("s/a", "one\r\n");
    write_file("s/deep/er/b", "two");
    write_file("s/tool", "#!");
    assert_int_equal(chmod(in_repo("s/tool"), 0755), 0);
    assert_int_equal(symlink("a", in_repo("s/link")), 0);
    ako_git_oid tree = tree_of(NULL, "s");
    write_file("s/a", "spoiled");
    assert_int_equal(chmod(in_repo("s/a"), 0600), 0);
    assert_int_equal(chmod(in_repo("s/tool"), 0644), 0);
    assert_int_equal(ako_fs_remove_tree(in_repo("s/deep")), AKO_OK);
    assert_int_equal(unlink(in_repo("s/link")), 0);
    write_file("s/link", "now a file");
    write_file("s/untracked", "the user's");
    assert_int_equal(restore(tree.hex, "s", false), AKO_OK);
    assert_file("s/a", "one\r\n");
    assert_file("s/deep/er/b", "two");
    assert_file("s/untracked", "the user's");
    struct stat st;
    assert_int_equal(stat(in_repo("s/a"), &st), 0);
    assert_int_equal(st.st_mode & 07777, 0600); /* its permissions are the user's */
    assert_int_equal(stat(in_repo("s/tool"), &st), 0);
    assert_int_equal(st.st_mode & 0111, 0111);
    assert_int_equal(lstat(in_repo("s/link"), &st), 0);
    assert_true(S_ISLNK(st.st_mode));
    assert_string_equal(tree_of(NULL, "s/a").hex, tree_of(tree_of(NULL, "s/a").hex, "s/a").hex);
}

static void removes_only_when_asked(void **state)
{
    (void)state;
    write_file("s/a", "1");
    ako_git_oid tree = tree_of(NULL, "s");
    write_file("s/new/file", "2");
    write_file(".gitignore", "*.o\n");
    write_file("s/x.o", "ignored");
    assert_int_equal(restore(tree.hex, "s/new/file", false), AKO_NOTFOUND);
    assert_non_null(strstr(ako_error_last()->message, "has no file s/new/file"));
    assert_int_equal(restore(tree.hex, "s", false), AKO_OK);
    assert_file("s/new/file", "2");
    assert_int_equal(restore(tree.hex, "s", true), AKO_OK);
    assert_gone("s/new");
    assert_file("s/x.o", "ignored");
    assert_file("s/a", "1");
    assert_file(".gitignore", "*.o\n");
}

static void never_loses_what_no_record_holds(void **state)
{
    (void)state;
    write_file("a", "best");
    write_file("b", "best b");
    ako_git_oid best = tree_of(NULL, ".");
    write_file("a", "trial");
    write_file("c", "trial c");
    ako_git_oid trial = tree_of(NULL, ".");
    write_file("b", "the user's edit");
    const char *const expect[] = {trial.hex, best.hex};
    ako_git_restore_options options = {.remove = true, .guard = true, .expect = expect, .n_expect = 2};
    assert_int_equal(ako_git_restore(git, best.hex, PATHS("."), &options), AKO_BUSY);
    assert_non_null(strstr(ako_error_last()->message, "b has changes that no record holds"));
    assert_file("a", "trial"); /* all or nothing */
    assert_file("c", "trial c");
    write_file("b", "best b");
    options.n_expect = 0;
    assert_int_equal(ako_git_restore(git, best.hex, PATHS("."), &options), AKO_BUSY);
    options.n_expect = 2;
    assert_int_equal(ako_git_restore(git, best.hex, PATHS("."), &options), AKO_OK);
    assert_file("a", "best");
    assert_gone("c");
    /* An oid is one of a blob too, also of bytes that no repository has seen. */
    write_file("a", "hashed only");
    ako_git_oid hashed;
    assert_int_equal(ako_git_hash(&hashed, "hashed only", 11), AKO_OK);
    options.expect = (const char *const[]){hashed.hex};
    options.n_expect = 1;
    assert_int_equal(ako_git_restore(git, best.hex, PATHS("a"), &options), AKO_OK);
    assert_file("a", "best");
}

static void hashes_as_git_does(void **state)
{
    (void)state;
    ako_git_oid oid;
    write_file("f", "hello\n");
    assert_int_equal(ako_git_hash_file(&oid, git, "f"), AKO_OK);
    assert_string_equal(oid.hex, "ce013625030ba8dba906f756967f9e9ca394464a");
    assert_int_equal(ako_git_hash_file(&oid, git, "g"), AKO_NOTFOUND);
}

/* ---- differences ---- */

static int append_change(void *payload, const char *path, char letter)
{
    ako_buf_printf(payload, "%c %s\n", letter, path);
    return 0;
}

static void diffs_count_and_show(void **state)
{
    (void)state;
    write_file("s/a", "1\n2\n");
    write_file("s/gone", "x\n");
    write_file("other", "x\n");
    ako_git_oid from = tree_of(NULL, ".");
    write_file("s/a", "1\n2\n3\n");
    write_file("s/new", "n\n");
    write_file("other", "y\n");
    assert_int_equal(unlink(in_repo("s/gone")), 0);
    ako_git_oid to = tree_of(from.hex, ".");
    ako_buf changes = {0}, patch = {0};
    ako_git_diff_stat stat;
    const char *const paths[] = {"s"};
    ako_git_diff_options options = {paths, 1, append_change, &changes, &patch};
    assert_int_equal(ako_git_diff(&stat, git, from.hex, to.hex, &options), AKO_OK);
    assert_string_equal(changes.data, "M s/a\nD s/gone\nA s/new\n");
    assert_int_equal(stat.files, 3);
    assert_int_equal(stat.insertions, 2);
    assert_int_equal(stat.deletions, 1);
    assert_non_null(strstr(patch.data, "@@ -1,2 +1,3 @@\n 1\n 2\n+3\n"));
    assert_null(strstr(patch.data, "other"));
    ako_git_diff_options all = {.n_paths = 0};
    assert_int_equal(ako_git_diff(&stat, git, NULL, to.hex, &all), AKO_OK);
    assert_int_equal(stat.files, 3);
    assert_int_equal(stat.insertions, 5);
    ako_buf_free(&changes);
    ako_buf_free(&patch);
}

/* ---- beside the user ---- */

/* A repository with a bit of everything that a user may have going on. */
static void make_busy_repository(void)
{
    write_file("solution/kernel.cu", "original\n");
    write_file("README", "r\n");
    run_git("add -A");
    run_git("commit -qm base");
    write_file("README", "staged\n");
    run_git("add README");
    write_file("README", "staged and edited\n");
    write_file("notes.txt", "untracked\n");
    write_file("solution/mine.h", "untracked too\n");
}

static void leaves_the_users_work_alone(void **state)
{
    (void)state;
    need_git();
    make_busy_repository();
    char before[4096], head[100];
    snprintf(before, sizeof before, "%s", run_git("status --porcelain"));
    snprintf(head, sizeof head, "%s", run_git("rev-parse HEAD"));
    ako_buf index_before = {0}, index_after = {0};
    assert_int_equal(ako_fs_read(&index_before, in_repo(".git/index"), 0), AKO_OK);
    assert_status("MM README\n?? notes.txt\n?? solution/mine.h\n");

    const char *file = "solution/kernel.cu";
    write_file(file, "candidate\n");
    ako_git_oid tree = tree_of("HEAD", file);
    commit(tree.hex, "HEAD", "refs/ako/run/1");
    commit(tree.hex, "HEAD", "refs/heads/ako/run");
    assert_int_equal(restore("HEAD", file, true), AKO_OK);

    assert_string_equal(run_git("rev-parse HEAD"), head);
    assert_int_equal(ako_fs_read(&index_after, in_repo(".git/index"), 0), AKO_OK);
    assert_int_equal(index_before.size, index_after.size);
    assert_memory_equal(index_before.data, index_after.data, index_before.size);
    assert_string_equal(run_git("status --porcelain"), before);
    assert_file("README", "staged and edited\n");
    assert_file("notes.txt", "untracked\n");
    assert_string_equal(run_git("fsck --strict --no-dangling"), "");
    assert_string_equal(run_git("show refs/ako/run/1:solution/kernel.cu"), "candidate\n");
    ako_buf_free(&index_before);
    ako_buf_free(&index_after);
}

static void attempts_survive_gc(void **state)
{
    (void)state;
    need_git();
    make_busy_repository();
    write_file("solution/kernel.cu", "reverted idea\n");
    ako_git_oid idea = commit(tree_of("HEAD", "solution/kernel.cu").hex, "HEAD", "refs/ako/run/7");
    ako_git_oid lost = commit(tree_of("HEAD", "notes.txt").hex, "HEAD", NULL);
    run_git("gc -q --prune=now");
    reopen(repo);
    assert_reads(idea.hex, "solution/kernel.cu", "reverted idea\n");
    assert_reads("refs/ako/run/7", "solution/kernel.cu", "reverted idea\n");
    ako_git_oid oid;
    assert_int_equal(ako_git_resolve(&oid, git, lost.hex), AKO_NOTFOUND);
}

static void runs_no_hooks(void **state)
{
    (void)state;
    static const char *const hooks[] = {"pre-commit", "commit-msg", "post-commit", "reference-transaction"};
    for (size_t i = 0; i < sizeof hooks / sizeof *hooks; i++) {
        char name[64];
        snprintf(name, sizeof name, ".git/hooks/%s", hooks[i]);
        write_file(name, "#!/bin/sh\ntouch \"$(git rev-parse --git-dir)/ran\"\nexit 1\n");
        assert_int_equal(chmod(in_repo(name), 0755), 0);
    }
    write_file("f", "1");
    commit(tree_of(NULL, "f").hex, NULL, "refs/heads/work");
    assert_gone(".git/ran");
}

static void works_in_a_subfolder(void **state)
{
    (void)state;
    write_file("top", "t");
    write_file("sub/solution/k.cu", "1\n");
    reopen(in_repo("sub"));
    ako_git_oid tree = tree_of(NULL, "solution/k.cu");
    assert_reads(tree.hex, "solution/k.cu", "1\n");
    assert_status("?? solution/k.cu\n");
    write_file("sub/solution/k.cu", "2\n");
    assert_int_equal(restore(tree.hex, ".", false), AKO_OK);
    assert_file("sub/solution/k.cu", "1\n");
    ako_buf changes = {0};
    ako_git_diff_stat stat;
    ako_git_oid all = tree_of(tree.hex, ".");
    assert_string_equal(all.hex, tree.hex); /* the workspace, not the repository */
    ako_git_diff_options options = {.change = append_change, .payload = &changes};
    assert_int_equal(ako_git_diff(&stat, git, NULL, tree.hex, &options), AKO_OK);
    assert_string_equal(changes.data, "A solution/k.cu\n");
    ako_buf_free(&changes);
    ako_git_oid oid;
    assert_int_equal(ako_git_tree(&oid, git, NULL, PATHS("../top")), AKO_INVALID);
    /* A link that leads to the workspace is the workspace. */
    char link[300];
    snprintf(link, sizeof link, "%s/link", root);
    assert_int_equal(symlink(in_repo("sub"), link), 0);
    reopen(link);
    assert_string_equal(ako_git_prefix(git), "sub/");
}

static void works_in_a_linked_worktree(void **state)
{
    (void)state;
    need_git();
    make_busy_repository();
    char common[300], tree_path[300];
    snprintf(common, sizeof common, "%s", in_repo(".git"));
    run_git("worktree add -q --detach ../linked");
    snprintf(tree_path, sizeof tree_path, "%s/linked", root);
    reopen(tree_path);
    snprintf(repo, sizeof repo, "%s", tree_path);
    assert_string_equal(ako_git_workdir(git), tree_path);
    assert_string_equal(ako_git_commondir(git), common);
    ako_git_head head;
    assert_int_equal(ako_git_head_get(&head, git), AKO_OK);
    assert_string_equal(head.ref, ""); /* detached */
    assert_int_equal(strlen(head.oid.hex), 40);
    assert_status("");
    write_file("solution/kernel.cu", "from the worktree\n");
    commit(tree_of("HEAD", "solution").hex, "HEAD", "refs/ako/linked/1");
    assert_int_equal(restore("HEAD", "solution", true), AKO_OK);
    assert_status("");
    snprintf(repo, sizeof repo, "%s/repo", root);
    assert_string_equal(run_git("show refs/ako/linked/1:solution/kernel.cu"), "from the worktree\n");
}

static void uses_the_users_identity(void **state)
{
    (void)state;
    need_git();
    run_git("config user.name 'The User'");
    run_git("config user.email user@example.org");
    write_file("f", "1");
    commit(tree_of(NULL, "f").hex, NULL, "refs/heads/work");
    assert_string_equal(run_git("log -1 --format='%an <%ae>' work"), "The User <user@example.org>\n");
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
    /* The user's own configuration has no say here; libgit2 reads this when it starts. */
    setenv("HOME", "/nonexistent", 1);
    setenv("XDG_CONFIG_HOME", "/nonexistent", 1);
    setenv("GIT_CONFIG_NOSYSTEM", "1", 1);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hashes_without_a_repository),
        TEST(init_makes_an_unborn_main),
        TEST(init_uses_what_is_there),
        TEST(says_what_a_full_disk_does_not_take),
        TEST(init_can_insist_on_one_of_its_own),
        TEST(init_leaves_a_damaged_repository_alone),
        TEST(opening_says_what_is_wrong),
        TEST(refuses_another_users_repository),
        TEST(trees_hold_bytes_modes_and_links),
        TEST(trees_start_from_a_base),
        TEST(files_and_folders_take_each_others_place),
        TEST(folders_leave_out_what_git_ignores),
        TEST(paths_are_checked),
        TEST(names_may_be_any_bytes),
        TEST(commits_carry_an_author),
        TEST(log_walks_from_the_newest),
        TEST(refs_compare_and_swap),
        TEST(refs_are_listed_in_order),
        TEST(restores_byte_for_byte),
        TEST(removes_only_when_asked),
        TEST(never_loses_what_no_record_holds),
        TEST(hashes_as_git_does),
        TEST(diffs_count_and_show),
        TEST(leaves_the_users_work_alone),
        TEST(attempts_survive_gc),
        TEST(runs_no_hooks),
        TEST(works_in_a_subfolder),
        TEST(works_in_a_linked_worktree),
        TEST(uses_the_users_identity),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
