-- What the last correct reads listed.

-- name: KnownChapters
SELECT chapter_id, coalesce(trim_scale(number)::text, ''), coalesce(trim_scale(volume)::text, ''), title, language, groups, url, source_order, external,
       published_at, first_seen_at, gone_since
FROM chapters
WHERE site = $1 AND series_id = $2
ORDER BY source_order, chapter_id;

-- name: SaveChapters
-- New and changed chapters in one statement; of a known one first_seen_at and
-- announced_at stay.
INSERT INTO chapters (site, series_id, chapter_id, number, volume, title, language, groups, url, source_order, external, published_at, first_seen_at, announced_at)
SELECT $1, $2, c.chapter_id, nullif(c.number, '')::numeric, nullif(c.volume, '')::numeric, c.title, c.language,
       CASE WHEN c.groups = '' THEN '{}' ELSE string_to_array(c.groups, E'\n') END, c.url, c.source_order, c.external, c.published_at, $3, $14
FROM unnest($4::text[], $5::text[], $6::text[], $7::text[], $8::text[], $9::text[], $10::text[], $11::int[], $12::bool[], $13::timestamptz[])
     AS c (chapter_id, number, volume, title, language, groups, url, source_order, external, published_at)
ON CONFLICT (site, series_id, chapter_id) DO UPDATE
SET number = excluded.number, volume = excluded.volume, title = excluded.title, language = excluded.language, groups = excluded.groups,
    url = excluded.url, source_order = excluded.source_order, external = excluded.external, published_at = excluded.published_at,
    gone_since = NULL,
    -- A new place in the list is no change of the release.
    changed_at = CASE WHEN (chapters.number, chapters.volume, chapters.title, chapters.language, chapters.groups, chapters.url, chapters.published_at)
                           IS DISTINCT FROM (excluded.number, excluded.volume, excluded.title, excluded.language, excluded.groups, excluded.url, excluded.published_at)
                           OR chapters.gone_since IS NOT NULL
                      THEN $3 ELSE chapters.changed_at END;

-- name: MarkGone
-- A chapter missing from a later list keeps its row, its file and its progress.
UPDATE chapters SET gone_since = $4
WHERE site = $1 AND series_id = $2 AND chapter_id = ANY ($3) AND gone_since IS NULL;

-- name: MarkExternal
-- Until a later list says otherwise.
UPDATE chapters SET external = true WHERE site = $1 AND series_id = $2 AND chapter_id = $3;

-- name: LackingChapters
-- A chapter that was set aside is passed over until the Site lists it otherwise
-- (JOB-4); an operator's Retry makes it wait instead.
SELECT c.chapter_id, coalesce(trim_scale(c.number)::text, ''), coalesce(trim_scale(c.volume)::text, ''), c.title, c.language, c.groups, c.url, c.source_order,
       c.external, c.published_at
FROM chapters c
WHERE c.site = $1 AND c.series_id = $2 AND c.gone_since IS NULL
  AND NOT EXISTS (SELECT FROM library_files f
                  WHERE f.site = c.site AND f.series_id = c.series_id AND f.chapter_id = c.chapter_id AND f.state <> 'removed'
                    -- One that lacks pages is asked for again once the Site lists it otherwise; on
                    -- Retry, or where a person wants the file anew, in any case.
                    AND NOT (f.again OR (f.missing_pages <> '{}' AND c.changed_at > f.published_at)))
  AND NOT EXISTS (SELECT FROM job_chapters jc JOIN jobs j ON j.id = jc.job_id
                  WHERE j.site = c.site AND j.series_id = c.series_id AND jc.chapter_id = c.chapter_id
                    AND jc.state = 'set_aside' AND jc.set_aside_at >= coalesce(c.changed_at, '-infinity'))
ORDER BY c.volume NULLS LAST, c.number NULLS LAST, c.source_order DESC;

-- name: RepointChapters
-- One release under a new id each: the row, and with it first_seen_at, stays.
UPDATE chapters c SET chapter_id = m.new
FROM unnest($3::text[], $4::text[]) AS m (old, new)
WHERE c.site = $1 AND c.series_id = $2 AND c.chapter_id = m.old;

-- name: RepointJobChapters
UPDATE job_chapters jc SET chapter_id = m.new
FROM jobs j, unnest($3::text[], $4::text[]) AS m (old, new)
WHERE j.id = jc.job_id AND j.site = $1 AND j.series_id = $2 AND jc.chapter_id = m.old
  AND j.state IN ('requested', 'inspecting', 'ready', 'queued', 'downloading', 'paused', 'retry_wait');

-- name: NewChapters
SELECT c.site, c.series_id, c.chapter_id, coalesce(trim_scale(c.number)::text, ''), coalesce(trim_scale(c.volume)::text, ''), c.title, c.language, c.groups,
       c.url, c.source_order, c.external, c.published_at, c.announced_at, coalesce(f.state, 'absent')
FROM chapters c
JOIN series s USING (site, series_id)
LEFT JOIN library_files f ON f.site = c.site AND f.series_id = c.series_id AND f.chapter_id = c.chapter_id AND f.state <> 'removed'
WHERE c.announced_at IS NOT NULL AND s.origin = 'followed'
ORDER BY c.announced_at DESC, c.source_order
LIMIT $1;

-- name: ListedLanguages
SELECT DISTINCT language FROM chapters WHERE site = $1 AND series_id = $2 AND gone_since IS NULL AND NOT external ORDER BY language;
