package store

import (
	"context"
	"database/sql"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"rdmaprep/quiz/fsrs"
)

// oldest rows that a database of each version can hold, written in the SQL of
// that version: the index is the version.
var rowsOf = []string{
	1: `INSERT INTO attempts VALUES (1, '000000000000000000000000000000aa', 'session', 'answer', '', 'ordering.fence', -1,
		1700000000000000000, 3600, 19675, '{"picks":[1]}', 'mine', 'right', 0.5, 1, 1, 80, 2, 1500000000, 3)`,
	2: `INSERT INTO records VALUES ('r1', 'stale-rkey', 'which fence?', 'confirmed', 1700000000000000000, 19675,
		'{"format":1,"id":"r1","question":"which fence?","at":"2023-11-14T22:13:20Z"}')`,
	3: `INSERT INTO settings VALUES ('theme', 'dark'); INSERT INTO progress VALUES ('quiz', x'7b7d')`,
}

// makeOld makes a database as a program of the given version left it.
func makeOld(t *testing.T, dir string, version int) {
	t.Helper()
	db, err := sql.Open("sqlite", filepath.Join(dir, FileName))
	if err != nil {
		t.Fatal(err)
	}
	for v := 1; v <= version; v++ {
		for _, text := range []string{steps[v-1].sql, rowsOf[v]} {
			if _, err := db.Exec(text); err != nil {
				t.Fatalf("version %d: %v", v, err)
			}
		}
	}
	stamp := fmt.Sprintf(`PRAGMA user_version = %d`, version)
	if version > 0 {
		stamp += fmt.Sprintf(`; PRAGMA application_id = %d`, applicationID)
	}
	if _, err := db.Exec(stamp); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
}

// schema is the text of every table, index and trigger.
func schema(t *testing.T, s *Store) string {
	t.Helper()
	rows, err := s.db.Query(`SELECT type || ' ' || name || ': ' || coalesce(sql, '') FROM sqlite_schema ORDER BY 1`)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	var all []string
	for rows.Next() {
		var line string
		if err := rows.Scan(&line); err != nil {
			t.Fatal(err)
		}
		all = append(all, line)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return strings.Join(all, "\n")
}

// From every older version the tables end up as those of a new store, and what
// was kept is there.
func TestEveryOlderVersionIsBroughtUp(t *testing.T) {
	if len(rowsOf) != known()+1 {
		t.Fatalf("rowsOf has rows for %d versions, there are %d: add those of the new one", len(rowsOf)-1, known())
	}
	ctx := context.Background()
	want := schema(t, openAt(t, t.TempDir()))
	for version := range known() + 1 {
		t.Run(fmt.Sprint(version), func(t *testing.T) {
			dir := t.TempDir()
			makeOld(t, dir, version)
			s := openAt(t, dir)
			if diff := cmp.Diff(want, schema(t, s)); diff != "" {
				t.Errorf("new-, brought up+:\n%s", diff)
			}
			if v, err := s.identify(ctx, s.db); v != known() || err != nil {
				t.Errorf("version %d, error %v, want %d", v, err, known())
			}
			all := log(t, s)
			if n := min(version, 1); len(all) != n {
				t.Fatalf("%d attempts, want %d", len(all), n)
			}
			if version >= 1 && (all[0].Variant != 1<<64-1 || all[0].Day != 19_675 || all[0].Rating != fsrs.Good || all[0].Answer.Picks[0] != 1) {
				t.Errorf("the attempt came back as %+v", all[0])
			}
			if records, err := s.Records(ctx); err != nil || len(records) != min(max(version-1, 0), 1) {
				t.Errorf("records %v, error %v", records, err)
			}
			if version >= 3 {
				if got, err := s.Setting(ctx, "theme"); got != "dark" || err != nil {
					t.Errorf("setting %q, error %v", got, err)
				}
				if got, err := s.Progress(ctx, "quiz"); string(got) != "{}" || err != nil {
					t.Errorf("progress %q, error %v", got, err)
				}
			}
			save(t, s, answered(7, "ordering.fence", 19_680, fsrs.Good))
			if err := s.Check(ctx); err != nil {
				t.Error(err)
			}
		})
	}
}

// A migration that fails leaves the file as it was: all steps or none.
func TestFailedMigrationChangesNothing(t *testing.T) {
	dir := t.TempDir()
	makeOld(t, dir, 1)
	db, err := sql.Open("sqlite", filepath.Join(dir, FileName))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.Exec(`CREATE TABLE settings (in_the_way TEXT)`); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	_, err = Open(context.Background(), dir, Options{})
	if err == nil || !strings.Contains(err.Error(), "migration 3 (progress and settings)") {
		t.Fatalf("the error does not name the step: %v", err)
	}
	db, err = sql.Open("sqlite", filepath.Join(dir, FileName))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var version, records, attempts int
	err = db.QueryRow(`SELECT (SELECT user_version FROM pragma_user_version),
		(SELECT count(*) FROM sqlite_schema WHERE name = 'records'), (SELECT count(*) FROM attempts)`).Scan(&version, &records, &attempts)
	if err != nil || version != 1 || records != 0 || attempts != 1 {
		t.Errorf("version %d, records table %d, attempts %d, error %v; want 1, 0, 1", version, records, attempts, err)
	}
}
