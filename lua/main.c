#include "host.h"

int main(int argc, char **argv)
{
    return akh_run(argc, argv);
}
