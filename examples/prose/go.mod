module example.com/prose

go 1.26
