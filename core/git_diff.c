#include <string.h>

#include "error.h"
#include "git_internal.h"

/* The path in the workspace of one in the working folder; NULL for one outside of the workspace. */
static const char *in_workspace(const ako_git *git, const char *path)
{
    size_t n = strlen(git->prefix);
    return strncmp(path, git->prefix, n) == 0 ? path + n : NULL;
}

/* Pathspecs that mean the paths literally; none mean the workspace. Pointers go into `text`. */
static int make_pathspec(git_strarray *out, ako_buf *text, ako_buf *pointers, ako_git *git, const char *const *paths,
                         size_t n)
{
    static const char *const workspace[] = {"."};
    ako_buf path = {0};
    int status = AKO_OK;
    if (n == 0)
        paths = workspace, n = 1;
    for (size_t i = 0; i < n && status == AKO_OK; i++) {
        status = ako_git__path(&path, git, paths[i]);
        if (status == AKO_OK && path.size == 0) /* all of the working folder */
            out->count = 0, i = n;
        else if (status == AKO_OK)
            ako_buf_put(text, path.data, path.size + 1), out->count++;
    }
    ako_buf_free(&path);
    char *item = text->data;
    for (size_t i = 0; i < out->count && !text->oom; i++, item += strlen(item) + 1)
        ako_buf_put(pointers, &item, sizeof item);
    out->strings = (char **)(void *)pointers->data;
    return text->oom || pointers->oom ? ako_git__nomem() : status;
}

/* ---- between trees ---- */

static int report_changes(const ako_git *git, git_diff *diff, const ako_git_diff_options *options)
{
    int result = AKO_OK;
    for (size_t i = 0; options->change && result == 0 && i < git_diff_num_deltas(diff); i++) {
        const git_diff_delta *delta = git_diff_get_delta(diff, i);
        const char *path = in_workspace(git, delta->new_file.path);
        if (path)
            result = options->change(options->payload, path, git_diff_status_char(delta->status));
    }
    return result;
}

static int report_text(ako_git_diff_stat *out, git_diff *diff, ako_buf *patch)
{
    git_diff_stats *stats = NULL;
    git_buf text = {0};
    int code = git_diff_get_stats(&stats, diff);
    if (code == 0) {
        out->files = git_diff_stats_files_changed(stats);
        out->insertions = git_diff_stats_insertions(stats);
        out->deletions = git_diff_stats_deletions(stats);
    }
    git_diff_stats_free(stats);
    if (code == 0 && patch)
        code = git_diff_to_buf(&text, diff, GIT_DIFF_FORMAT_PATCH);
    if (code == 0 && patch)
        ako_buf_put(patch, text.ptr, text.size);
    git_buf_dispose(&text);
    if (code < 0)
        return ako_git__fail(code, "cannot write the differences");
    return patch && patch->oom ? ako_git__nomem() : AKO_OK;
}

static int diff_trees(ako_git_diff_stat *out, ako_git *git, git_tree *from, git_tree *to,
                      const ako_git_diff_options *options)
{
    git_diff_options settings;
    ako_buf text = {0}, pointers = {0};
    git_diff *diff = NULL;
    git_diff_options_init(&settings, GIT_DIFF_OPTIONS_VERSION);
    settings.flags = GIT_DIFF_DISABLE_PATHSPEC_MATCH | GIT_DIFF_INCLUDE_TYPECHANGE;
    int status = make_pathspec(&settings.pathspec, &text, &pointers, git, options->paths, options->n_paths);
    if (status == AKO_OK) {
        int code = git_diff_tree_to_tree(&diff, git->repo, from, to, &settings);
        status = code < 0 ? ako_git__fail(code, "cannot compare") : AKO_OK;
    }
    if (status == AKO_OK)
        status = report_text(out, diff, options->patch);
    if (status == AKO_OK)
        status = report_changes(git, diff, options);
    git_diff_free(diff);
    ako_buf_free(&pointers);
    ako_buf_free(&text);
    return status;
}

int ako_git_diff(ako_git_diff_stat *out, ako_git *git, const char *from, const char *to,
                 const ako_git_diff_options *options)
{
    git_tree *old = NULL, *new = NULL;
    *out = (ako_git_diff_stat){0};
    int status = ako_git__lookup_tree(&old, git, from);
    if (status == AKO_OK)
        status = ako_git__lookup_tree(&new, git, to);
    if (status == AKO_OK)
        status = diff_trees(out, git, old, new, options);
    git_tree_free(old);
    git_tree_free(new);
    return status;
}

/* ---- status ---- */

/* Columns of `git status --porcelain`: what differs between HEAD and index, and between index and workspace. */
static const struct {
    unsigned flag;
    int column;
    char letter;
} letters[] = {
    {GIT_STATUS_INDEX_NEW, 0, 'A'},     {GIT_STATUS_INDEX_MODIFIED, 0, 'M'},   {GIT_STATUS_INDEX_DELETED, 0, 'D'},
    {GIT_STATUS_INDEX_RENAMED, 0, 'R'}, {GIT_STATUS_INDEX_TYPECHANGE, 0, 'T'}, {GIT_STATUS_WT_MODIFIED, 1, 'M'},
    {GIT_STATUS_WT_DELETED, 1, 'D'},    {GIT_STATUS_WT_RENAMED, 1, 'R'},       {GIT_STATUS_WT_TYPECHANGE, 1, 'T'},
};

static int report_status(const git_status_entry *entry, const char *path,
                         int (*report)(void *payload, const char *path, const char *code), void *payload)
{
    unsigned flags = entry->status;
    if (flags & GIT_STATUS_CONFLICTED)
        return report(payload, path, "UU");
    char code[] = "  ";
    for (size_t i = 0; i < sizeof letters / sizeof *letters; i++)
        if (flags & letters[i].flag)
            code[letters[i].column] = letters[i].letter;
    int result = strcmp(code, "  ") == 0 ? 0 : report(payload, path, code);
    /* A file taken out of the index that is still there is two things at once, as for git. */
    return result == 0 && (flags & GIT_STATUS_WT_NEW) ? report(payload, path, "??") : result;
}

int ako_git_status(ako_git *git, int (*entry)(void *payload, const char *path, const char *code), void *payload)
{
    git_status_options options;
    git_status_list *list = NULL;
    ako_buf text = {0}, pointers = {0};
    git_status_options_init(&options, GIT_STATUS_OPTIONS_VERSION);
    options.flags = GIT_STATUS_OPT_INCLUDE_UNTRACKED | GIT_STATUS_OPT_RECURSE_UNTRACKED_DIRS |
                    GIT_STATUS_OPT_DISABLE_PATHSPEC_MATCH | GIT_STATUS_OPT_EXCLUDE_SUBMODULES;
    int result = make_pathspec(&options.pathspec, &text, &pointers, git, NULL, 0);
    if (result == AKO_OK) {
        int code = git_status_list_new(&list, git->repo, &options);
        result = code < 0 ? ako_git__fail(code, "cannot read the status of %s", git->workdir) : AKO_OK;
    }
    for (size_t i = 0; result == 0 && i < git_status_list_entrycount(list); i++) {
        const git_status_entry *e = git_status_byindex(list, i);
        const git_diff_delta *delta = e->index_to_workdir ? e->index_to_workdir : e->head_to_index;
        const char *path = in_workspace(git, delta->new_file.path);
        if (path)
            result = report_status(e, path, entry, payload);
    }
    git_status_list_free(list);
    ako_buf_free(&pointers);
    ako_buf_free(&text);
    return result;
}
