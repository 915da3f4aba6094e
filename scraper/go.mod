module mangrove/scraper

go 1.26.0

replace mangrove/internal => ../internal

replace mangrove/migrations => ../migrations

replace mangrove/proto => ../proto

require (
	mangrove/internal v0.0.0
	mangrove/migrations v0.0.0
	mangrove/proto v0.0.0
)

require (
	github.com/PuerkitoBio/goquery v1.14.0 // indirect
	github.com/andybalholm/cascadia v1.3.5 // indirect
	github.com/cenkalti/backoff/v5 v5.0.3 // indirect
	github.com/google/go-cmp v0.7.0 // indirect
	go.uber.org/multierr v1.11.0 // indirect
	go.uber.org/zap v1.28.0 // indirect
	golang.org/x/net v0.62.0 // indirect
	golang.org/x/sync v0.25.0 // indirect
	golang.org/x/text v0.44.0 // indirect
	pgregory.net/rapid v1.3.0 // indirect
)
