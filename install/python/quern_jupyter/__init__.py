"""What two Jupyter tools need to know of Go.

papermill writes parameters into a notebook in its language: Go has to be one
that it knows (module papermill). nbconvert --to script puts the cells of a
notebook one below the other, which is no Go file: quern export makes one
(module nbconvert). Both tools find this package by its entry points.
"""
