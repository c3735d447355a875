package tui

import (
	"context"
	"fmt"
	"slices"
	"time"

	"charm.land/bubbles/v2/textinput"
	tea "charm.land/bubbletea/v2"

	"github.com/treereduce/treereduce/game"
	"github.com/treereduce/treereduce/play/internal/analysis"
	"github.com/treereduce/treereduce/play/internal/board"
	"github.com/treereduce/treereduce/play/internal/player"
	"github.com/treereduce/treereduce/play/internal/referee"
	"github.com/treereduce/treereduce/play/internal/session"
	"github.com/treereduce/treereduce/search"
)

// A model is the state of the user interface: everything that is shown, and everything that
// a key can change. It receives messages one after the other.
type model struct {
	o        Options
	g        game.Game
	analyzer *analysis.Analyzer
	opponent *opponent

	width, height int
	dark          bool // the terminal has a dark background

	*session.Session
	over   bool // play has ended, as end describes
	end    session.End
	judged []analysis.Judgment // all moves of a play that was over, until there are others; nil: not yet

	levels []player.Level
	level  int

	// The position: its moves, and the advice so far.
	moves    []game.Move
	spots    []board.Spot
	advice   analysis.Report
	selected int           // index of a move; -1: none
	typed    string        // the typed beginning of a move's name
	clicked  []board.Place // squares that the move must change
	initials map[rune]bool

	// Background work ends when ctx ends. A result of an earlier turn is ignored.
	turn     int
	ctx      context.Context
	cancel   context.CancelFunc
	thinking bool // the machine is thinking

	settings settings // as they were read, and changed since
	saved    []string // the moves of the play when it began, was read or saved; nil: there was none
	asked    bool     // whether to quit without saving; the play has not changed since

	message     string
	bad         bool // the message is an error
	mode        mode
	choice      int                       // the selected choice of a new game
	prompt      textinput.Model           // the name of a file, while it is typed
	named       func(name string) tea.Cmd // what to do with it
	offered     bool                      // nothing of it was typed: the next character replaces it
	scroll      int                       // lines by which the help is scrolled
	interrupted bool
}

// A mode selects the handler of the keys.
type mode uint8

const (
	playing mode = iota
	choosing
	naming // a file
	helping
)

// A choice is what the user can choose for a new game.
type choice struct {
	words string
	seats [2]bool
}

var choices = []choice{
	{"you move first", [2]bool{true, false}},
	{"the machine moves first", [2]bool{false, true}},
	{"two humans", [2]bool{true, true}},
	{"watch the machine play itself", [2]bool{false, false}},
}

// Results of background work. Those whose turn is not the model's are ignored.
type (
	advised struct {
		turn   int
		advice analysis.Report
		more   <-chan analysis.Report // the further reports of a step that goes on
	}
	moved struct {
		turn int
		name string
		hint bool // it was chosen for a person who asked for it
		err  error
	}
	judged struct {
		turn  int
		moves []analysis.Judgment
	}
	saved struct {
		name  string
		moves []string
		err   error
	}
	loaded struct {
		name string
		last referee.Played
		err  error
	}
)

// newModel makes the model of a new game.
func newModel(o Options) *model {
	options := o.Search
	if options.Memory == 0 {
		options.Memory = search.DefaultMemory
	}
	options.Memory /= 2 // analyzer and opponent have a table each
	m := &model{
		o: o, g: o.Game, width: 80, height: 24, dark: true,
		analyzer: analysis.New(o.Game, o.Table, o.Book, options),
		opponent: &opponent{table: o.Table, book: o.Book, searching: player.Searching(o.Game, options), seed: o.Seed},
		initials: make(map[rune]bool), cancel: func() {},
		mode: choosing, message: o.Notice, bad: o.Notice != "",
	}
	m.levels, m.level = levels(o.Table != nil, o.Level)
	seats := choices[0].seats
	if o.Seats != nil {
		seats, m.mode = *o.Seats, playing
	}
	m.Session = session.New(player.NewHistory(m.g), seats)
	m.recall()
	return m
}

// Init starts the first tasks.
func (m *model) Init() tea.Cmd {
	cmds := []tea.Cmd{tea.RequestBackgroundColor, m.arrive()}
	if m.o.Load != "" {
		cmds = append(cmds, m.load(m.o.Load))
	}
	return tea.Batch(cmds...)
}

// close stops the background work, and waits for it.
func (m *model) close() {
	m.cancel()
	m.analyzer.Close()
	m.opponent.close()
}

// Update handles a message.
func (m *model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.width, m.height = max(msg.Width, 0), max(msg.Height, 0)
	case tea.BackgroundColorMsg:
		m.dark = msg.IsDark()
	case tea.KeyPressMsg:
		return m, m.key(msg)
	case tea.PasteMsg:
		return m, m.paste(msg.Content)
	case tea.MouseClickMsg:
		if msg.Button == tea.MouseLeft {
			return m, m.click(msg.X, msg.Y)
		}
	case tea.MouseWheelMsg:
		return m, m.wheel(msg)
	case advised:
		if msg.turn == m.turn {
			if m.advice = msg.advice; msg.more != nil {
				return m, msg.next
			}
			return m, m.advise()
		}
	case moved:
		if msg.turn == m.turn {
			return m, m.moved(msg)
		}
	case judged:
		if msg.turn == m.turn {
			m.judged = msg.moves
		}
	case saved:
		if m.show("saved in "+msg.name, msg.err); !m.bad {
			m.saved = msg.moves
		}
	case loaded:
		return m, m.loaded(msg)
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
	m.thinking, m.asked = false, false
	m.typed, m.clicked, m.selected = "", nil, -1
	if m.end, m.over = m.End(); m.over || !slices.EqualFunc(m.judged, m.Moves(), func(j analysis.Judgment, name string) bool { return j.Move == name }) {
		m.judged = nil
	}
	if m.over {
		m.moves, m.spots, m.advice = nil, nil, analysis.Report{Best: -1}
		return m.judge()
	}
	m.moves = m.History().Moves()
	m.spots = board.Spots(m.g, m.History().Position(), m.moves)
	for _, move := range m.moves {
		for _, r := range move.Name {
			m.initials[r] = true
			break
		}
	}
	m.advice = m.analyzer.Begin(m.History().Position())
	if !m.Thinking() || m.mode == choosing {
		return m.advise()
	}
	m.thinking = true
	return tea.Batch(m.advise(), m.think(m.levels[m.level], 0)) // only a table gives advice meanwhile
}

// values reports whether the values of moves are shown: in an analysis, and in a practice after the right move.
func (m *model) values() bool { return m.Analysing && (m.Practice == nil || m.Right(m.advice)) }

// advise continues the advice.
func (m *model) advise() tea.Cmd {
	if m.advice.Done || m.over || !m.Analysing || m.thinking && !m.advice.Table {
		return nil
	}
	ctx, a, z := m.ctx, m.advice, m.analyzer
	reports := make(chan analysis.Report, 2) // the last report has space, even if no one receives it
	first := advised{m.turn, a, reports}
	return func() tea.Msg {
		go func() {
			defer close(reports)
			reports <- z.Step(ctx, a, func(r analysis.Report) {
				if len(reports) == 0 {
					reports <- r
				}
			})
		}()
		return first.next()
	}
}

// judgeTime is the time of the search of each position of a play that is over.
const judgeTime = 300 * time.Millisecond

// judge finds the mistakes of a play that is over.
func (m *model) judge() tea.Cmd {
	turn, ctx, h, z := m.turn, m.ctx, m.History().Clone(), m.analyzer
	return func() tea.Msg {
		reports, err := z.AssessAll(ctx, h.Positions(), judgeTime)
		if err != nil {
			return judged{turn: turn}
		}
		return judged{turn, analysis.Review(h.Game(), h.Names(), 0, reports)}
	}
}

// next waits for the next report of a step, or for its end.
func (a advised) next() tea.Msg {
	if r, ok := <-a.more; ok {
		return advised{a.turn, r, a.more}
	}
	return advised{a.turn, a.advice, nil}
}

// think starts the choice of the machine's move, or a hint, for which the machine has limit, if that is not 0.
func (m *model) think(l player.Level, limit time.Duration) tea.Cmd {
	turn, ctx, h, op, hint, pace := m.turn, m.ctx, m.History().Clone(), m.opponent, limit > 0, m.o.Pace
	if hint {
		pace = 0
	}
	return func() tea.Msg {
		least := time.After(pace)
		name, err := op.move(ctx, h, l, limit)
		select {
		case <-least:
		case <-ctx.Done():
		}
		return moved{turn, name, hint, err}
	}
}

// moved handles the machine's choice.
func (m *model) moved(msg moved) tea.Cmd {
	if msg.hint {
		m.selectMove(slices.IndexFunc(m.moves, func(mv game.Move) bool { return mv.Name == msg.name }))
		m.Hint = msg.name
		m.show("", msg.err)
		return nil
	}
	if msg.err != nil {
		m.Paused = true
		m.show("", fmt.Errorf("the machine cannot move: %w", msg.err))
		return m.arrive()
	}
	return m.play(msg.name)
}

// play makes a move.
func (m *model) play(name string) tea.Cmd {
	if err := m.Play(name); err != nil {
		m.show("", err)
		return nil
	}
	m.show("", nil)
	if m.Practice != nil { // it is the same position
		m.selectMove(-1)
		return nil
	}
	return m.arrive()
}

// analyse begins or ends an analysis.
func (m *model) analyse() tea.Cmd {
	m.settings.Analyse = !m.Analysing
	return m.do(map[bool]string{true: "play", false: "analyse"}[m.Analysing])
}

// do does what the session calls action.
func (m *model) do(action string) tea.Cmd {
	m.show("", m.Do(action))
	return m.arrive()
}

// practise begins a practice of the mistakes that were found, or goes to the next one.
func (m *model) practise() tea.Cmd {
	switch {
	case m.Practice == nil && m.judged == nil:
		m.show("mistakes are found at the end of a game", nil)
		return nil
	case m.Practice == nil:
		if err := m.Practise(m.judged); err != nil {
			m.show(err.Error(), nil)
			return nil
		}
		m.Analyse(true)
	default:
		m.Next(m.advice)
	}
	m.show("", nil)
	return m.arrive()
}

// pause stops the machine, or lets it go on.
func (m *model) pause() tea.Cmd {
	if m.Persons() == 2 {
		return nil
	}
	return m.do(map[bool]string{true: "resume", false: "pause"}[m.Waits()])
}

// grade raises or lowers the level of the machine.
func (m *model) grade(by int) tea.Cmd {
	m.level = max(0, min(m.level+by, len(m.levels)-1))
	m.settings.Level = m.levels[m.level].Name
	m.show("the machine plays "+m.levels[m.level].Words(), nil)
	if m.thinking {
		return m.arrive()
	}
	return nil
}

// hint selects the best move, once it is found.
func (m *model) hint() tea.Cmd {
	if !m.Can("hint") {
		m.show("", m.cannot(""))
		return nil
	}
	return m.think(player.Strongest(), player.HintTime)
}

// begin begins a new game.
func (m *model) begin(seats [2]bool) tea.Cmd {
	m.adoptSession(player.NewHistory(m.g), seats)
	m.mode, m.saved = playing, []string{}
	m.settings.People = &seats
	m.show("", nil)
	return m.arrive()
}

// players returns the names of the players for a file.
func (m *model) players() (names [2]string) {
	for i, person := range m.People {
		if names[i] = m.levels[m.level].String(); person {
			names[i] = humanName
		}
	}
	return names
}

// save saves the play in the background.
func (m *model) save(name string) tea.Cmd {
	p, parse := played(m.History().Clone(), m.players()), m.o.Parse
	return func() tea.Msg { return saved{name, p.Moves, save(name, p, parse)} }
}

// load reads a play in the background.
func (m *model) load(name string) tea.Cmd {
	parse := m.o.Parse
	return func() tea.Msg {
		last, err := lastOf(name, parse)
		return loaded{name, last, err}
	}
}

// loaded continues a play that has been read, at its last position. The machine waits if it
// is its turn.
func (m *model) loaded(msg loaded) tea.Cmd {
	if msg.err == nil {
		msg.err = m.adopt(msg.name, msg.last)
	}
	if msg.err != nil {
		m.show("", msg.err)
		return nil
	}
	m.Paused = !m.People[m.History().Turn()]
	m.show(fmt.Sprintf("%s against %s, from %s", msg.last.Players[0], msg.last.Players[1], msg.name), nil)
	return m.arrive()
}

// adopt replaces the play by one from a file.
func (m *model) adopt(name string, p referee.Played) error {
	if p.Game != m.g.Spec() {
		return fmt.Errorf("%s: expected %s, found %s", name, m.g.Spec(), p.Game)
	}
	h := player.NewHistory(m.g)
	for _, move := range p.Moves {
		if err := h.Play(move); err != nil { // cannot fail: the reader has replayed the moves
			return err
		}
	}
	m.adoptSession(h, [2]bool{p.Players[0] == humanName, p.Players[1] == humanName})
	m.saved, m.mode = p.Moves, playing
	return nil
}

// adoptSession begins a session, in the mode that the user has chosen.
func (m *model) adoptSession(h *player.History, seats [2]bool) {
	m.Session = session.New(h, seats)
	m.Analysing = m.settings.Analyse
}

// quit quits, unless there is a play that is not saved: then it asks once.
func (m *model) quit() tea.Cmd {
	if moves := m.History().Names(); len(moves) == 0 || slices.Equal(moves, m.saved) || m.asked {
		return tea.Quit
	}
	m.asked = true
	m.show("this game is not saved: Q quits, S saves it", nil)
	return nil
}
