-- name: revision
SELECT number AS revision FROM revision WHERE name = 'library';

-- name: raise_revision
UPDATE revision SET number = number + 1 WHERE name = 'library' RETURNING number AS revision;

-- name: next_version
INSERT INTO template_name (key, name, last_version) VALUES (:key, :name, 1)
ON CONFLICT (key) DO UPDATE SET last_version = template_name.last_version + 1, name = excluded.name
RETURNING last_version;

-- name: spelling
SELECT name FROM template WHERE key = :key ORDER BY version DESC LIMIT 1;

-- name: save
INSERT INTO template (key, version, revision, name, task_type, tags, description, examples, created_at, document)
VALUES (:key, :version, :revision, :name, :task_type, :tags, :description, :examples, :created_at, :document);

-- name: rewrite
UPDATE template SET revision = :revision, examples = :examples, document = :document
WHERE key = :key AND version = :version;

-- name: add_example_source
INSERT INTO example_source (session, example_id) VALUES (?, ?) ON CONFLICT DO NOTHING;

-- name: examples_from
SELECT example_id FROM example_source WHERE session = :session;

-- name: drop_example_source
DELETE FROM example_source WHERE session = :session;

-- name: has_source
SELECT 1 FROM example_source WHERE example_id = :example_id LIMIT 1;

-- name: add_source
INSERT INTO template_source (key, version, session) VALUES (?, ?, ?) ON CONFLICT DO NOTHING;

-- name: drop_source
DELETE FROM template_source WHERE session = :session;

-- name: drop_older
DELETE FROM template WHERE key = :key AND version <= :version;

-- name: newest
SELECT version, document FROM template WHERE key = :key ORDER BY version DESC LIMIT 1;

-- name: one
SELECT version, document FROM template WHERE key = :key AND version = :version;

-- name: versions
SELECT version FROM template WHERE key = :key ORDER BY version DESC;

-- name: names
SELECT DISTINCT name FROM template ORDER BY name;

-- name: documents
SELECT template.document FROM template
WHERE NOT EXISTS (SELECT 1 FROM template AS newer WHERE newer.key = template.key AND newer.version > template.version)
ORDER BY template.key;

-- name: list
SELECT template.key, template.name, template.version, template.task_type, template.tags, template.description,
    template.examples, template.created_at,
    template_name.uses AS usage_count
FROM template JOIN template_name ON template_name.key = template.key
WHERE (:task_type IS NULL OR template.task_type = :task_type)
  AND NOT EXISTS (SELECT 1 FROM template AS newer WHERE newer.key = template.key AND newer.version > template.version)
ORDER BY template.created_at DESC, template.key;

-- name: delete
DELETE FROM template WHERE key = :key;

-- name: delete_one
DELETE FROM template WHERE key = :key AND version = :version;

-- name: delete_usage
UPDATE template_name SET uses = 0 WHERE key = :key;

-- name: of_session
SELECT template.key, template.version, template.document
FROM template_source JOIN template ON template.key = template_source.key AND template.version = template_source.version
WHERE template_source.session = :session
ORDER BY template.key, template.version;

-- name: projects
SELECT source.session, session.project
FROM (SELECT DISTINCT session, instr(session, ':') AS colon FROM template_source) AS source
CROSS JOIN session ON session.agent = substr(source.session, 1, source.colon - 1)
    AND session.native_id = substr(source.session, source.colon + 1)
WHERE session.project IS NOT NULL;

-- name: is_from_touched
SELECT 1 FROM touched CROSS JOIN session ON session.id = touched.id
CROSS JOIN template_source ON template_source.session = session.agent || ':' || session.native_id
LIMIT 1;

-- name: usage
SELECT key, uses FROM template_name WHERE uses > 0;

-- name: count_use
UPDATE template_name SET uses = uses + 1 WHERE key = :key;

-- name: add_uses
UPDATE template_name SET uses = uses + :uses WHERE key = :key;

-- name: shown
SELECT example_id, shown FROM example_usage;

-- name: proven
SELECT example_id FROM example_usage WHERE is_proven = 1;

-- name: prove
INSERT INTO example_usage (example_id, shown, is_proven) VALUES (?, 0, 1)
ON CONFLICT (example_id) DO UPDATE SET is_proven = 1;

-- name: count_shown
INSERT INTO example_usage (example_id, shown) VALUES (?, 1)
ON CONFLICT (example_id) DO UPDATE SET shown = example_usage.shown + 1;

-- name: states
SELECT example_id, state, reason, evidence, changed_at FROM example_state ORDER BY id;

-- name: set_state
INSERT INTO example_state (example_id, state, reason, evidence, changed_at)
VALUES (:example_id, :state, :reason, :evidence, :changed_at);

-- name: keep_block
INSERT INTO warm_block (lineage_root, format, form, template, version, example_ids, bytes, digest, created_at)
VALUES (:lineage_root, :format, :form, :template, :version, :example_ids, :bytes, :digest, :created_at)
ON CONFLICT (lineage_root, format) DO NOTHING;

-- name: find_block
SELECT lineage_root, format, form, template, version, example_ids, bytes, digest, created_at
FROM warm_block WHERE lineage_root = :lineage_root AND format = :format;

-- name: drop_block
DELETE FROM warm_block WHERE lineage_root = :lineage_root;

-- name: blocks
SELECT lineage_root, format, example_ids FROM warm_block;

-- name: drop_block_in
DELETE FROM warm_block WHERE lineage_root = :lineage_root AND format = :format;

-- name: drop_states
DELETE FROM example_state WHERE example_id = :example_id;

-- name: drop_shown
DELETE FROM example_usage WHERE example_id = :example_id;

-- name: drop_evidence
UPDATE example_state SET evidence = 'null' WHERE evidence LIKE :pattern ESCAPE '\';

-- name: forget_names
DELETE FROM template_name;

-- name: forget_example_usage
DELETE FROM example_usage;

-- name: forget_example_source
DELETE FROM example_source;

-- name: forget_states
DELETE FROM example_state;

-- name: forget_blocks
DELETE FROM warm_block;

-- name: newest_name
SELECT name FROM template_name ORDER BY rowid DESC LIMIT 1;
