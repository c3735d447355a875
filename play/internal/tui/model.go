package tui

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"slices"
	"sync"
	"time"
	"unicode/utf8"

	"charm.land/bubbles/v2/textinput"
	"charm.land/bubbles/v2/viewport"
	tea "charm.land/bubbletea/v2"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/play/internal/analysis"
	"github.com/treereduce/treereduce/play/internal/board"
	"github.com/treereduce/treereduce/play/internal/player"
	"github.com/treereduce/treereduce/play/internal/session"
	"github.com/treereduce/treereduce/search"
)

// A model is the state of the user interface: everything that is shown, and everything that
// a key can change. It receives messages one after the other.
type model struct {
	o        Options
	g        game.Game
	analyzer *analysis.Analyzer
	search   player.Search // of the machine
	moving   sync.Mutex    // held while the machine chooses a move
	send     func(tea.Msg) // to this model

	width, height int
	dark          bool // the terminal has a dark background

	*session.Session
	judged []analysis.Judgment // all moves of a play that was over, until there are others; nil: not yet
	levels []player.Level
	level  int

	// The position: its moves, and the advice so far.
	moves    []game.Move
	spots    []board.Spot
	advice   analysis.Report
	selected int           // index of a move; -1: none
	clicked  []board.Place // squares that the move must change
	initials map[rune]bool // of the moves at all positions so far

	// Background work ends when ctx ends. A result of an earlier turn is ignored.
	turn   int
	ctx    context.Context
	cancel context.CancelFunc

	message string
	bad     bool // the message is an error
	mode    mode
	input   textinput.Model           // the typed beginning of a move's name or, while naming, the name of a file
	named   func(name string) tea.Cmd // what to do with the file
	page    viewport.Model            // the help
	body    viewport.Model            // the board and the panel, as they were drawn last
	scroll  int                       // the first line of body to show
}

// A mode selects the handler of the keys.
type mode uint8

const (
	playing mode = iota
	choosing
	naming // a file
	helping
)

// newModel makes the model of a new game, or of one that was kept.
func newModel(o Options) *model {
	options := o.Search
	if options.Memory == 0 {
		options.Memory = search.DefaultMemory
	}
	options.Memory /= 2 // the analyzer and the machine have a table each
	m := &model{
		o: o, g: o.Game, width: 80, height: 24, dark: true, message: o.Notice, bad: o.Notice != "",
		analyzer: analysis.New(o.Game, o.Table, o.Book, options), search: player.Searching(o.Game, options), send: func(tea.Msg) {},
		initials: make(map[rune]bool), cancel: func() {}, levels: player.Opponents(), input: textinput.New(), page: viewport.New(),
	}
	bold := m.in(plain).Bold(true)
	m.input.Placeholder, m.input.CharLimit = "games.txt", 1000
	m.input.KeyMap.Paste.SetEnabled(false) // the terminal pastes
	m.input.SetStyles(textinput.Styles{Focused: textinput.StyleState{Text: bold, Prompt: bold, Placeholder: m.in(quiet)}})
	m.input.Focus()
	level := cmp.Or(o.Level, map[bool]string{true: player.Strongest().Name, false: usual}[o.Table != nil])
	m.level = slices.IndexFunc(m.levels, func(l player.Level) bool { return l.Name == level })
	m.sit([2]bool{true, false})
	m.fill()
	switch goes := m.restore(); {
	case goes && o.Seats != nil:
		m.People = *o.Seats
		m.Paused = !m.People[m.History().Turn()]
	case o.Seats != nil:
		m.sit(*o.Seats)
	case !goes:
		m.choose()
	}
	return m
}

// restore loads the game that was kept, and reports whether it goes on.
func (m *model) restore() bool {
	if m.o.Kept == "" || m.o.Fresh {
		return false
	}
	err := m.load(m.o.Kept)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		m.show("", fmt.Errorf("%w: it is ignored", err))
	} else if err == nil && !m.Over() && !m.bad {
		m.show("your unfinished game; N starts a new one", nil)
	}
	return err == nil && !m.Over()
}

// Init starts the first tasks.
func (m *model) Init() tea.Cmd { return tea.Batch(tea.RequestBackgroundColor, m.arrive()) }

// close stops the background work, and waits for it.
func (m *model) close() {
	m.cancel()
	m.analyzer.Close()
	m.moving.Lock()
}

// Update handles a message.
func (m *model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.width, m.height = max(msg.Width, 0), max(msg.Height, 0)
		m.fill()
	case tea.BackgroundColorMsg:
		m.dark = msg.IsDark()
	case tea.KeyPressMsg:
		return m, m.key(msg)
	case tea.PasteMsg:
		return m, m.paste(msg)
	case tea.MouseClickMsg:
		return m, m.click(msg.X, msg.Y)
	case tea.MouseWheelMsg:
		m.page, _ = m.page.Update(msg)
		m.body, _ = m.body.Update(msg)
		m.scroll = m.body.YOffset()
	case result:
		if msg.turn == m.turn {
			return m, msg.apply()
		}
	}
	return m, nil
}

// show shows a message or, if err is not nil, the error.
func (m *model) show(text string, err error) {
	if m.message, m.bad = text, err != nil; m.bad {
		m.message = err.Error()
	}
}

// arrive must be called whenever the position, or the player to move, has changed. It stops the
// background work on the old position, and starts that on the new one.
func (m *model) arrive() tea.Cmd {
	m.cancel()
	m.ctx, m.cancel = context.WithCancel(context.Background())
	m.turn++
	m.scroll = 0
	m.selectMove(-1)
	if !slices.EqualFunc(m.judged, m.Moves(), func(j analysis.Judgment, name string) bool { return j.Move == name }) {
		m.judged = nil
	}
	h := m.History()
	if m.Over() {
		m.moves, m.spots, m.advice = nil, nil, analysis.Report{Best: -1}
		return m.judge()
	}
	m.moves, m.advice = h.Moves(), m.analyzer.Begin(h.Position())
	m.spots = board.Spots(m.g, h.Position(), m.moves)
	for _, move := range m.moves {
		initial, _ := utf8.DecodeRuneInString(move.Name)
		m.initials[initial] = true
	}
	if !m.Thinking() || m.mode == choosing {
		return m.advise()
	}
	return tea.Batch(m.advise(), m.think(m.levels[m.level], m.o.Pace, 0, func(name string, err error) tea.Cmd {
		if err == nil {
			return m.play(name)
		}
		m.Paused = true
		m.show("", err)
		return m.arrive()
	}))
}

// A result of background work changes the model.
type result struct {
	turn  int
	apply func() tea.Cmd
}

// later does work in the background, and then what it returns.
func (m *model) later(work func(context.Context, *player.History) func() tea.Cmd) tea.Cmd {
	turn, ctx, h := m.turn, m.ctx, m.History().Clone()
	return func() tea.Msg { return result{turn, work(ctx, h)} }
}

// advise continues the advice in an analysis; while a machine is thinking, only from a table.
func (m *model) advise() tea.Cmd {
	if m.advice.Done || m.Over() || !m.Analysing || m.Thinking() && !m.advice.Table {
		return nil
	}
	turn, advice := m.turn, m.advice
	return m.later(func(ctx context.Context, _ *player.History) func() tea.Cmd {
		advice = m.analyzer.Step(ctx, advice, func(r analysis.Report) {
			m.send(result{turn, func() tea.Cmd { m.advice = r; return nil }})
		})
		return func() tea.Cmd { m.advice = advice; return m.advise() }
	})
}

// judge finds the mistakes of a play that is over.
func (m *model) judge() tea.Cmd {
	return m.later(func(ctx context.Context, h *player.History) func() tea.Cmd {
		judged, err := m.analyzer.Judge(ctx, h, 0, analysis.JudgeTime)
		if err != nil {
			return func() tea.Cmd { m.show("", err); return nil }
		}
		return func() tea.Cmd { m.judged = judged; return nil }
	})
}

// think starts the choice of a move by a level, which takes at least pace and, unless that is 0, at most limit.
func (m *model) think(l player.Level, pace, limit time.Duration, then func(name string, err error) tea.Cmd) tea.Cmd {
	p := player.NewLevel(l, m.o.Table, m.o.Book, m.search, rand.Uint64())
	return m.later(func(ctx context.Context, h *player.History) func() tea.Cmd {
		least := time.After(pace)
		m.moving.Lock()
		name, err := p.Move(ctx, h, limit)
		m.moving.Unlock()
		select {
		case <-least:
		case <-ctx.Done():
		}
		return func() tea.Cmd { return then(name, err) }
	})
}

// play makes a move.
func (m *model) play(name string) tea.Cmd {
	err := m.Play(name)
	if m.show("", err); err != nil {
		return nil
	}
	if m.Practice != nil { // it is the same position
		m.selectMove(-1)
		return nil
	}
	return m.arrive()
}

// do does what the session calls action.
func (m *model) do(action string) tea.Cmd {
	m.show("", m.Do(action))
	return m.arrive()
}

// practise begins a practice of the mistakes that were found, or goes to the next one.
func (m *model) practise() tea.Cmd {
	var err error
	if m.Practice != nil {
		m.Next(m.advice)
	} else if err = errors.New("mistakes are found at the end of a game"); m.judged != nil {
		err = m.Practise(m.judged)
	}
	if m.show("", err); err != nil {
		return nil
	}
	return m.arrive()
}

// grade raises or lowers the level of the machine.
func (m *model) grade(by int) tea.Cmd {
	m.level = max(0, min(m.level+by, len(m.levels)-1))
	m.show("the machine plays "+m.levels[m.level].Name, nil)
	if m.Thinking() {
		return m.arrive()
	}
	return nil
}

// hint selects the best move, once it is found.
func (m *model) hint() tea.Cmd {
	if !m.Can("hint") {
		m.show("", m.check(""))
		return nil
	}
	return m.think(player.Strongest(), 0, player.HintTime, func(name string, err error) tea.Cmd {
		m.selectMove(slices.IndexFunc(m.moves, func(mv game.Move) bool { return mv.Name == name }))
		m.Hint = name
		m.show("", err)
		return nil
	})
}

// sit replaces the game by a new one.
func (m *model) sit(seats [2]bool) { m.Session = session.New(player.NewHistory(m.g), seats) }

// choose asks for the sides of a new game.
func (m *model) choose() tea.Cmd {
	m.mode = choosing
	return m.arrive()
}

// begin begins a new game.
func (m *model) begin(seats [2]bool) tea.Cmd {
	m.sit(seats)
	m.mode = playing
	m.show("", nil)
	return m.arrive()
}
