/* What a process that will run hostile code gets from us: a folder for its temporary files and an environment, which is
 * a list of what it may see, whatever the user's holds. */
#ifndef AKO_WORKER_ROOM_H
#define AKO_WORKER_ROOM_H

typedef struct child_room child_room;

/* A new folder (core/scratch.h). AKO_UNAVAILABLE when there can be none. */
int room_open(child_room **out);
const char *room_folder(const child_room *room); /* NULL without a room */

/* What of our environment is on the list, and TMPDIR, which is the folder. Borrowed. NULL (all of ours) without a room.
 */
const char *const *room_environment(const child_room *room);

void room_close(child_room *room); /* the folder goes with all that is in it; NULL is fine */

#endif
