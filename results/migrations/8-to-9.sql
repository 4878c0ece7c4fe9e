-- Version 8 to 9: how many threads a block of a kernel has. Frozen: never changed again.

ALTER TABLE kernel ADD COLUMN block_threads INTEGER NOT NULL DEFAULT 0 CHECK (block_threads >= 0);
