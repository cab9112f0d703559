--[[ lane-turn: may these events run now? Whoever is told "go" is from then on the holder of the lane.
  Atomic because: between finding an event at the head and naming its holder, another run of it could do the same.
  A run whose job was started anew since, elsewhere, comes too late: the number at the end of its holder is the lower one.
  KEYS 1 lanes · 2 pending · 3 entered · 4 holders
  ARGV 1 n · n × (workspace, lane or "", place, event id, holder, "1" if revived else "0")
  RETURN n × ("go" | "wait" | "left" | "taken-over", id of the event at the head or "")    Cost O(n log pending). Never calls TIME. ]]
local SEP = '\31'
local AFTER_SEP = '\32'
local PLACE_WIDTH = 35
local n = tonumber(ARGV[1])
local answer = {}

local function headOf(lane)
  if lane == '' then return nil end
  return redis.call('ZRANGEBYLEX', KEYS[1], '[' .. lane .. SEP, '(' .. lane .. AFTER_SEP, 'LIMIT', 0, 1)[1]
end

local function add(workspace, lane, place, id)
  redis.call('ZADD', KEYS[2], 0, workspace .. SEP .. place)
  if lane ~= '' then redis.call('ZADD', KEYS[1], 0, lane .. SEP .. place .. SEP .. id) end
end

local function startOf(holder)
  return tonumber(string.match(holder or '', '/(%d+)$') or 0)
end

for i = 0, n - 1 do
  local at = 6 * i + 2
  local workspace, lane, place, id, holder = ARGV[at], ARGV[at + 1], ARGV[at + 2], ARGV[at + 3], ARGV[at + 4]
  local left = false
  if ARGV[at + 5] == '1' then
    -- It has had its place since it was revived, until it leaves.
    left = not redis.call('ZSCORE', KEYS[2], workspace .. SEP .. place)
  elseif not redis.call('ZSCORE', KEYS[2], workspace .. SEP .. place) then
    left = place <= (redis.call('HGET', KEYS[3], workspace) or '')
    -- Never entered: the lanes were lost while the queue was not. Better run once more than not at all.
    if not left then add(workspace, lane, place, id) end
  end

  local head = headOf(lane)
  local headId = head and string.sub(head, #lane + PLACE_WIDTH + 3) or ''
  if left then
    answer[2 * i + 1] = 'left'
  elseif lane == '' then
    answer[2 * i + 1] = 'go'
  elseif head == lane .. SEP .. place .. SEP .. id then
    local late = startOf(redis.call('HGET', KEYS[4], lane)) > startOf(holder)
    answer[2 * i + 1] = late and 'taken-over' or 'go'
    if not late then redis.call('HSET', KEYS[4], lane, holder) end
  else
    answer[2 * i + 1] = 'wait'
  end
  answer[2 * i + 2] = headId
end
return answer
