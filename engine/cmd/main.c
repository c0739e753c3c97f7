/* The headless program (make TUI=0). */
#include "engine/cmd/cmd.h"

int main(int argc, char **argv)
{
    return cmd_main(argc, argv, NULL);
}
