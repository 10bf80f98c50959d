# Settings of nbgrader for a course with Go notebooks. Run nbgrader in this folder.
# docs/teaching.md of Quern is the guide for teachers.
c = get_config()  # noqa: F821

c.CourseDirectory.course_id = "go"

# What students get instead of the lines between // BEGIN SOLUTION and // END SOLUTION. A function that panics
# compiles whatever its results are.
c.ClearSolutions.code_stub = {"go": '// your code\npanic("not solved yet")'}
c.ClearSolutions.text_stub = "*Your answer.*"

# A cell that does not end counts as failed. The session stays, so the cells below it still run.
c.Execute.timeout = 60
c.Execute.interrupt_on_timeout = True
c.Execute.error_on_timeout = {
    "ename": "timeout",
    "evalue": "the cell did not end in time",
    "traceback": ["the cell did not end in time"],
}
