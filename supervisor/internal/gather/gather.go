// Package gather answers Prometheus for all three programs at one address: the
// supervisor's own figures, and those of the scraper and the reader, which it asks on
// their sockets at that moment. Each figure says of which service it is. One that is
// away, hangs or talks nonsense is said to be down within a moment and costs the others
// nothing. It keeps no figures, opens no database, and starts nothing.
package gather

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"mangrove/internal/metrics"
)

// Bounds of asking one service.
const (
	// Patience is how long one may take: all are asked at once, so it is what an
	// answer of ours may take longer.
	Patience  = 3 * time.Second
	mostBytes = 8 << 20
)

// serviceLabel is the label by which the figures of several programs stay apart.
const serviceLabel = "service"

// Source is a service that is asked.
type Source struct {
	// Name is its word, Socket where it tells its metrics.
	Name, Socket string
}

// Gatherer joins our own figures with those of the sources.
type Gatherer struct {
	// Own are the figures of the program called Name.
	Name string
	Own  prometheus.Gatherer
	// Sources are asked at each Gather, all at once.
	Sources []Source
}

// Gather asks everybody. It is a prometheus.Gatherer: what could be had is returned
// beside an error.
func (g Gatherer) Gather() ([]*dto.MetricFamily, error) {
	heard := make([][]*dto.MetricFamily, len(g.Sources))
	var asking sync.WaitGroup
	for i, s := range g.Sources {
		asking.Go(func() {
			// Whoever is away is said to be so; why stands in its own log.
			heard[i], _ = s.ask()
		})
	}
	own, err := g.Own.Gather()
	asking.Wait()
	all := prometheus.Gatherers{g.up(heard), said(named(own, g.Name))}
	for i, s := range g.Sources {
		all = append(all, said(named(heard[i], s.Name)))
	}
	families, joined := all.Gather()
	return families, errors.Join(err, joined)
}

// up says who told its metrics now.
func (g Gatherer) up(heard [][]*dto.MetricFamily) prometheus.Gatherer {
	reg := prometheus.NewRegistry()
	up := prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Namespace: metrics.Namespace, Name: "up", Help: "Whether the service told its metrics when it was asked now.",
	}, []string{serviceLabel})
	reg.MustRegister(up)
	up.WithLabelValues(g.Name).Set(1)
	for i, s := range g.Sources {
		told := 0.0
		if len(heard[i]) > 0 {
			told = 1
		}
		up.WithLabelValues(s.Name).Set(told)
	}
	return reg
}

func said(families []*dto.MetricFamily) prometheus.Gatherer {
	return prometheus.GathererFunc(func() ([]*dto.MetricFamily, error) { return families, nil })
}

// named gives every figure that does not say of which service it is the name of the
// one that told it.
func named(families []*dto.MetricFamily, name string) []*dto.MetricFamily {
	label := serviceLabel
	for _, f := range families {
		for _, m := range f.GetMetric() {
			if slices.ContainsFunc(m.GetLabel(), func(l *dto.LabelPair) bool { return l.GetName() == serviceLabel }) {
				continue
			}
			m.Label = append(slices.Clone(m.GetLabel()), &dto.LabelPair{Name: &label, Value: &name})
			slices.SortFunc(m.GetLabel(), func(a, b *dto.LabelPair) int { return cmp.Compare(a.GetName(), b.GetName()) })
		}
	}
	return families
}

// ask asks the service once, over a connection of its own: the one before may lead to
// a process that is gone.
func (s Source) ask() ([]*dto.MetricFamily, error) {
	ctx, cancel := context.WithTimeout(context.Background(), Patience)
	defer cancel()
	client := &http.Client{Transport: &http.Transport{
		DisableKeepAlives: true,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "unix", s.Socket)
		},
	}}
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+s.Name+metrics.Path, http.NoBody)
	if err != nil {
		return nil, err
	}
	r.Header.Set("Accept", string(expfmt.NewFormat(expfmt.TypeTextPlain)))
	resp, err := client.Do(r)
	if err != nil {
		return nil, err
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s answered %s", s.Name, resp.Status)
	}
	parser := expfmt.NewTextParser(model.LegacyValidation)
	byName, err := parser.TextToMetricFamilies(io.LimitReader(resp.Body, mostBytes))
	if err != nil {
		return nil, err
	}
	families := make([]*dto.MetricFamily, 0, len(byName))
	for _, f := range byName {
		families = append(families, f)
	}
	return families, nil
}
