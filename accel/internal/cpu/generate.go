package cpu

//go:generate go run -C asm . -kind gemm -out ../gemm_amd64.s -stubs ../gemm_stub_amd64.go -pkg cpu
//go:generate go run -C asm . -kind vector -out ../vector_amd64.s -stubs ../vector_stub_amd64.go -pkg cpu
//go:generate go run -C asm . -kind shift -out ../shift_amd64.s -stubs ../shift_stub_amd64.go -pkg cpu
//go:generate go run -C asm . -kind winograd -out ../winograd_amd64.s -stubs ../winograd_stub_amd64.go -pkg cpu
//go:generate go run -C asm . -kind rows -out ../rows_amd64.s -stubs ../rows_stub_amd64.go -pkg cpu
//go:generate go run -C asm . -kind channel -out ../channel_amd64.s -stubs ../channel_stub_amd64.go -pkg cpu
//go:generate go run -C asm . -kind integer -out ../integer_amd64.s -stubs ../integer_stub_amd64.go -pkg cpu
//go:generate go run -C asm . -kind specials -out ../../../frame/csv_specials_amd64.s -stubs ../../../frame/csv_specials_stub_amd64.go -pkg frame
//go:generate go run ./neon -kind gemm -out gemm_arm64.s -stubs gemm_stub_arm64.go
//go:generate go run ./neon -kind vector -out vector_arm64.s -stubs vector_stub_arm64.go
//go:generate go run ./neon -kind shift -out shift_arm64.s -stubs shift_stub_arm64.go
//go:generate go run ./neon -kind channel -out channel_arm64.s -stubs channel_stub_arm64.go
//go:generate go run ./neon -kind winograd -out winograd_arm64.s -stubs winograd_stub_arm64.go
//go:generate go run ./neon -kind integer -out integer_arm64.s -stubs integer_stub_arm64.go
