--[[ abandon-sweep: drops the checkpoint of a sweep that can never be completed; the next one starts at the first page.
  What the sweep wrote about records stays. Ids that it has seen and the last complete sweep has
  not are unconfirmed from now on; otherwise their removal would go unnoticed.
  Atomic because: another process may have taken over the sweep, and its checkpoint must stay.
  KEYS 1 lease · 2 sweep · 3 unconfirmed · 4 cursors of the walk · 5 its members · 6 its pages
  ARGV 1 token · 2 "drop" | "keep" the checkpoint: further ids follow · further arguments: the unconfirmed ids
  RETURN {"committed", 0} · {"fenced", holder or ""}    Cost O(ids). ]]
local holder = redis.call('GET', KEYS[1])
if holder ~= ARGV[1] then return { 'fenced', holder or '' } end
for i = 3, #ARGV do redis.call('SADD', KEYS[3], ARGV[i]) end
if ARGV[2] == 'keep' then return { 'committed', 0 } end
redis.call('HDEL', KEYS[2], 'checkpoint')
redis.call('UNLINK', KEYS[4], KEYS[5], KEYS[6])
return { 'committed', 0 }
