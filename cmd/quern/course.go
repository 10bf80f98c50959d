package main

import (
	"context"
	"flag"
	"fmt"

	"github.com/quernlab/quern/install/course"
)

const courseUsage = `quern course begins a course with problem sets that nbgrader grades.

  quern course dir    write the settings of nbgrader for Go and an example into dir

Then, with pip install nbgrader:

  cd dir
  nbgrader generate_assignment ps1    makes the version for students, in release
  nbgrader autograde ps1              grades what is in submitted/NAME/ps1
  nbgrader generate_feedback ps1
`

func runCourse(_ context.Context, args []string, std stdio) error {
	flags := flag.NewFlagSet("course", flag.ContinueOnError)
	if len(args) != 1 || args[0] == "" || args[0][0] == '-' {
		if err := parse(flags, courseUsage, args, std); err != nil {
			return err
		}
		return &usageError{"course: the folder is missing", "quern course dir"}
	}
	if err := course.Write(args[0]); err != nil {
		return fmt.Errorf("course: %w", err)
	}
	fmt.Fprintf(std.out, "wrote %s; next: cd there and run nbgrader generate_assignment ps1\n", args[0])
	return nil
}
