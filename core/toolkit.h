/* Where the libraries of a CUDA toolkit may lie on this machine. */
#ifndef AKO_TOOLKIT_H
#define AKO_TOOLKIT_H

/* Called with a folder that exists, or with "" for "wherever the dynamic loader looks". Non-zero stops the walk. */
typedef int (*ako_folder_visitor)(void *payload, const char *folder);

/* Walks the places of CUDA libraries in the order of search and returns what stopped it, else 0: $CUDA_HOME and
 * $CUDA_PATH, the loader's own path, /usr/local/cuda, the toolkit of the nvcc on PATH, then NVIDIA's Python wheels
 * (found by their folders: no Python runs). $AKO_LIBRARY_PATH, folders separated by ':', replaces all of it. */
int ako_toolkit_walk(ako_folder_visitor visit, void *payload);

/* The same for libraries that come with the driver: $AKO_LIBRARY_PATH, then the loader's path. */
int ako_driver_walk(ako_folder_visitor visit, void *payload);

/* The folders that the loader would try for a plain soname, as far as can be told without loading. */
int ako_loader_walk(ako_folder_visitor visit, void *payload);

#endif
