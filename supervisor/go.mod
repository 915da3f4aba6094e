module mangrove/supervisor

go 1.26.0

replace mangrove/internal => ../internal

replace mangrove/migrations => ../migrations

replace mangrove/proto => ../proto

require (
	mangrove/internal v0.0.0
	mangrove/migrations v0.0.0
	mangrove/proto v0.0.0
)
