package declared

// description is a file as it is written. docs/sites.md explains each key; a test
// holds that page to this list.
type description struct {
	At             place
	Kind           text         `yaml:"kind"`
	Key            text         `yaml:"key"`
	Name           text         `yaml:"name"`
	Hosts          []text       `yaml:"hosts"`
	ImageHosts     []text       `yaml:"image_hosts"`
	Languages      []text       `yaml:"languages"`
	Pacing         text         `yaml:"pacing"`
	ListPacing     text         `yaml:"list_pacing"`
	Interval       text         `yaml:"interval"`
	Browser        text         `yaml:"browser"`
	ImagesInFlight text         `yaml:"images_in_flight"`
	ListLife       text         `yaml:"list_life"`
	WorkPrefix     text         `yaml:"work_prefix"`
	Charset        text         `yaml:"charset"`
	Canary         text         `yaml:"canary"`
	Listed         []listedText `yaml:"listed"`
	Series         seriesText   `yaml:"series"`
	Chapters       chaptersText `yaml:"chapters"`
	Pages          pagesText    `yaml:"pages"`
	Search         *searchText  `yaml:"search"`
}

type listedText struct {
	At    place
	ID    text `yaml:"id"`
	Title text `yaml:"title"`
}

type seriesText struct {
	At          place
	Address     text        `yaml:"address"`
	Also        []text      `yaml:"also"`
	Read        text        `yaml:"read"`
	Answer      text        `yaml:"answer"`
	Script      *scriptText `yaml:"script"`
	Landmark    text        `yaml:"landmark"`
	Missing     text        `yaml:"missing"`
	ID          *valueText  `yaml:"id"`
	Title       *valueText  `yaml:"title"`
	NativeTitle *valueText  `yaml:"native_title"`
	Authors     *valueText  `yaml:"authors"`
	Description *valueText  `yaml:"description"`
	Status      *valueText  `yaml:"status"`
	Tags        *valueText  `yaml:"tags"`
	Cover       *valueText  `yaml:"cover"`
	Direction   *valueText  `yaml:"direction"`
	License     *valueText  `yaml:"license"`
}

type chaptersText struct {
	At        place
	Read      text        `yaml:"read"`
	Answer    text        `yaml:"answer"`
	Script    *scriptText `yaml:"script"`
	Landmark  text        `yaml:"landmark"`
	Missing   text        `yaml:"missing"`
	Item      text        `yaml:"item"`
	Skip      text        `yaml:"skip"`
	Order     text        `yaml:"order"`
	Next      *valueText  `yaml:"next"`
	NextLimit text        `yaml:"next_limit"`
	Count     *valueText  `yaml:"count"`
	ID        *valueText  `yaml:"id"`
	Address   *valueText  `yaml:"address"`
	Label     *valueText  `yaml:"label"`
	Number    *valueText  `yaml:"number"`
	Volume    *valueText  `yaml:"volume"`
	Title     *valueText  `yaml:"title"`
	Group     *valueText  `yaml:"group"`
	Language  *valueText  `yaml:"language"`
	Date      *valueText  `yaml:"date"`
	External  *valueText  `yaml:"external"`
}

type pagesText struct {
	At       place
	Read     text        `yaml:"read"`
	Answer   text        `yaml:"answer"`
	Script   *scriptText `yaml:"script"`
	Landmark text        `yaml:"landmark"`
	Chapter  *valueText  `yaml:"chapter"`
	Image    text        `yaml:"image"`
	Source   *valueText  `yaml:"source"`
	Count    *valueText  `yaml:"count"`
	Identity text        `yaml:"identity"`
}

type searchText struct {
	At       place
	Read     text        `yaml:"read"`
	Answer   text        `yaml:"answer"`
	Script   *scriptText `yaml:"script"`
	Landmark text        `yaml:"landmark"`
	Item     text        `yaml:"item"`
	ID       *valueText  `yaml:"id"`
	Address  *valueText  `yaml:"address"`
	Title    *valueText  `yaml:"title"`
	Cover    *valueText  `yaml:"cover"`
}

// scriptText says how a list is cut out of a page's scripts.
type scriptText struct {
	At    place
	From  text `yaml:"from"`
	Match text `yaml:"match"`
	Path  text `yaml:"path"`
	Each  text `yaml:"each"`
}

// valueText says where one value is found.
type valueText struct {
	valueKeys
}

type valueKeys struct {
	At       place
	From     []text          `yaml:"from"`
	Template text            `yaml:"template"`
	Constant text            `yaml:"constant"`
	Match    text            `yaml:"match"`
	Words    map[string]text `yaml:"words"`
	Formats  []text          `yaml:"formats"`
	Zone     text            `yaml:"zone"`
}
