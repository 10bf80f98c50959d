module github.com/quernlab/quern/accel/internal/cpu/asm

go 1.26.0

require github.com/mmcloughlin/avo v0.6.0

require (
	golang.org/x/mod v0.31.0 // indirect
	golang.org/x/sync v0.19.0 // indirect
	golang.org/x/tools v0.40.0 // avo v0.6.0 asks for one that Go 1.26 cannot build
)
