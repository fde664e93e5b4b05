module regatta/contenders/go

go 1.19
