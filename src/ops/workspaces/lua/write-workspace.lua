-- Writes one workspace of the book where it is still as the writer has read it, and gives the book another revision: no writer undoes what
-- another one has done, and a process that has read a revision has read all that was written up to it.
--
-- KEYS[1] workspaces (hash)
-- ARGV[1] name; ARGV[2] the text that was read, '' for none; ARGV[3] the new text, '' removes it; ARGV[4] the revision
-- Returns 1; 0 where it was changed meanwhile.
if (redis.call('HGET', KEYS[1], ARGV[1]) or '') ~= ARGV[2] then
  return 0
end
if ARGV[3] == '' then
  redis.call('HDEL', KEYS[1], ARGV[1])
else
  redis.call('HSET', KEYS[1], ARGV[1], ARGV[3])
end
redis.call('HSET', KEYS[1], ':revision', ARGV[4])
return 1
